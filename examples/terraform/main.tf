terraform {
  required_version = ">= 1.4"

  # Where the state is, the setting `backend` says.
  backend "local" {}
}

variable "environment" {
  type = string
}

resource "terraform_data" "page" {
  input = "<h1>Hello</h1> from ${var.environment}"
}

output "page" {
  value = terraform_data.page.output
}
