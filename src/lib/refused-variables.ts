export interface RefusedNames {
  /** What `--allow-variables` names. Absent: only single names can be allowed. */
  class?: string;
  /** `*` stands for any characters. */
  names: readonly string[];
  /** Whether programs read the names in upper and lower case. */
  anyCase?: true;
}

/** Names that the command inherits from the runner. `*` stands for any characters. */
export const INHERITED_NAMES: readonly string[] = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ"],
  ...["LANG", "LANGUAGE", "LC_*"],
];

/** Without these, programs do not start on Windows, or find no folder to write to. */
export const INHERITED_ON_WINDOWS: readonly string[] = [
  ...["SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERNAME"],
  ...["USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA"],
  ...["PROGRAMFILES"],
];

/**
 * Names of variables that change how programs load or run. Based on the lists of sudo (`env_delete`)
 * and glibc (`unsecvars.h`), and on the manuals of the programs. docs/runners.md has the same table.
 */
export const REFUSED_NAMES: readonly RefusedNames[] = [
  {
    class: "shell",
    names: [
      ...["BASH_*", "BASHOPTS", "SHELLOPTS", "ENV", "ZDOTDIR", "PS4", "PROMPT_COMMAND", "IFS"],
      ...["CDPATH", "FPATH", "GLOBIGNORE", "EXECIGNORE", "NULLCMD", "READNULLCMD", "TMPPREFIX"],
      ...["HISTFILE", "INPUTRC", "POSIXLY_CORRECT", "__BASH_FUNC*"],
    ],
  },
  {
    class: "loader",
    names: [
      ...["LD_*", "_RLD*", "DYLD_*", "LDR_*", "LIBPATH", "SHLIB_PATH", "GCONV_PATH", "GETCONF_DIR"],
      ...["GLIBC_TUNABLES", "MALLOC_*", "LOCPATH", "NLSPATH", "PATH_LOCALE", "TZDIR", "TERMCAP"],
      ...["TERMINFO", "TERMINFO_DIRS", "TERMPATH", "XDG_*"],
    ],
  },
  {
    class: "hosts",
    names: ["HOSTALIASES", "LOCALDOMAIN", "RES_OPTIONS", "RESOLV_HOST_CONF", "NIS_PATH", "KRB5*"],
  },
  { class: "proxies", names: ["*_PROXY"], anyCase: true },
  {
    class: "certificates",
    names: [
      ...["SSL_CERT_*", "SSLKEYLOGFILE", "OPENSSL_*", "*_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"],
      ...["NODE_TLS_REJECT_UNAUTHORIZED", "CURL_*", "WGETRC", "NETRC"],
    ],
  },
  {
    class: "node",
    names: [
      ...["NODE_OPTIONS", "NODE_PATH", "NODE_REPL_*", "NODE_V8_COVERAGE", "NODE_ICU_DATA"],
      ...["NODE_COMPILE_CACHE", "NODE_DEBUG*", "NODE_REDIRECT_WARNINGS", "NODE_USE_*"],
      ...["TS_NODE_*", "COREPACK_*", "BUN_*", "DENO_*"],
    ],
  },
  {
    class: "npm",
    names: ["NPM_CONFIG_*", "PNPM_CONFIG_*", "YARN_*"],
    anyCase: true,
  },
  {
    class: "python",
    names: [
      ...["PYTHON*", "PIP_*", "UV_CONFIG_FILE", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL"],
      ...["UV_FIND_LINKS", "UV_INDEX*", "UV_PYTHON*", "VIRTUAL_ENV"],
    ],
  },
  {
    class: "interpreters",
    names: [
      ...["PERL*", "RUBY*", "GEM_*", "BUNDLE_*", "BUNDLER_*", "PHPRC", "PHP_INI_SCAN_DIR"],
      ...["COMPOSER_*", "LUA_*", "TCLLIBPATH", "R_ENVIRON*", "R_HOME", "R_LIBS*", "R_PROFILE*"],
      ...["ERL_*", "ELIXIR_ERL_OPTIONS"],
    ],
  },
  {
    class: "java",
    names: [
      ...["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JDK_JAVAC_OPTIONS"],
      ...["JAVA_OPTS", "JAVA_HOME", "CLASSPATH", "MAVEN_*", "GRADLE_*", "ANT_*", "SBT_OPTS"],
      ...["DOTNET_STARTUP_HOOKS", "DOTNET_ADDITIONAL_DEPS", "DOTNET_SHARED_STORE"],
      ...["DOTNET_ROOT*", "DOTNET_HOST_PATH", "DOTNET_CLI_HOME", "CORECLR_*", "COR_*", "NUGET_*"],
    ],
  },
  {
    class: "builds",
    names: [
      ...["MAKEFLAGS", "MAKEFILES", "GNUMAKEFLAGS", "MFLAGS", "CC", "CXX", "RUSTC*", "RUSTFLAGS"],
      ...["RUSTUP_*", "CARGO_*", "CGO_*", "GOFLAGS", "GOENV", "GOROOT", "GOPATH", "GOBIN"],
      ...["GOTOOLCHAIN", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE", "GOINSECURE"],
      ...["GODEBUG", "TAR_OPTIONS"],
    ],
  },
  {
    class: "git",
    names: ["GIT_*", "SSH_*", "SVN_SSH", "CVS_RSH", "RSYNC_*", "HGRCPATH", "GNUPGHOME"],
  },
  {
    class: "programs",
    names: [
      ...["EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "FCEDIT", "*_EDITOR", "*_PAGER"],
      ...["*_ASKPASS", "SUDO_*", "LESS", "LESSOPEN", "LESSCLOSE", "LESSKEY*", "VIMINIT", "EXINIT"],
      ...["PSQLRC", "MYSQL_HOME"],
    ],
  },
  {
    class: "endpoints",
    names: [
      ...["*_ENDPOINT", "*_BASE_URL", "*_API_URL", "*_AUTHORITY_HOST", "*_CUSTOM_ENDPOINT"],
      ...["VAULT_ADDR", "VAULT_AGENT_ADDR", "VAULT_PROXY_ADDR", "CONSUL_HTTP_ADDR", "NOMAD_ADDR"],
      ...["GH_HOST", "GITLAB_HOST", "PULUMI_BACKEND_URL"],
    ],
  },
  {
    class: "cloud",
    names: [
      ...["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_PROFILE", "AWS_DEFAULT_PROFILE"],
      ...["AWS_DATA_PATH", "AWS_ENDPOINT_URL*", "AWS_CONTAINER_*", "AWS_EC2_METADATA_*"],
      ...["AWS_METADATA_*", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_SDK_LOAD_CONFIG"],
      ...["AZURE_CONFIG_DIR", "AZURE_EXTENSION_DIR", "AZURE_FEDERATED_TOKEN_FILE"],
      ...["AZURE_CLIENT_CERTIFICATE_PATH", "ARM_METADATA_HOST*", "ARM_OIDC_*"],
      ...["ARM_CLIENT_CERTIFICATE_PATH", "CLOUDSDK_*", "GCE_METADATA_*"],
      ...["GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"],
      ...["CLOUDFLARE_COMPLIANCE_REGION", "WRANGLER_*", "MINIFLARE_*"],
    ],
  },
  {
    class: "kubernetes",
    names: [
      ...["KUBECONFIG", "KUBERC", "KUBECTL_*", "KUBE_*", "KUBERNETES_*", "KUBECACHEDIR"],
      ...["KUSTOMIZE_*", "HELM_*"],
    ],
  },
  {
    class: "docker",
    names: [
      ...["DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_HOST", "DOCKER_CERT_PATH", "DOCKER_TLS*"],
      ...["DOCKER_AUTH_CONFIG", "DOCKER_BUILDKIT", "DOCKER_CLI_*", "DOCKER_CONTENT_TRUST*"],
      ...["DOCKER_CUSTOM_HEADERS", "COMPOSE_*", "BUILDX_*", "BUILDKIT_*"],
      ...["CONTAINER_HOST", "CONTAINERS_*", "REGISTRY_AUTH_FILE"],
    ],
  },
  {
    class: "provisioning",
    names: [
      ...["TF_CLI_*", "TF_CLOUD_*", "TF_DATA_DIR", "TF_ENCRYPTION", "TF_HTTP_*", "TF_LOG*"],
      ...["TF_PLUGIN_*", "TF_PROVIDER_*", "TF_REATTACH_PROVIDERS", "TF_REGISTRY_*", "TF_STATE_*"],
      ...["TF_TOKEN_*", "TF_WORKSPACE", "TFE_*", "TOFU_*", "TERRAFORM_CONFIG", "TERRAGRUNT_*"],
      ...["TG_*", "PACKER_*", "PULUMI_HOME", "ANSIBLE_*"],
    ],
  },
  { names: ["LONGSHORE_*"] },
];

/** What each class contains, by its name. The last has none. */
export const REFUSAL_REASONS: Readonly<Record<string, string>> = {
  shell: "Commands and options of shells",
  loader: "Code and data that the dynamic loader and the C library load",
  hosts: "The hosts that names lead to",
  proxies: "Proxies",
  certificates: "Trust in certificates, and the options of clients",
  node: "Code and options of Node, Bun and Deno",
  npm: "Options of npm, pnpm and Yarn",
  python: "Code and options of Python",
  interpreters: "Code and options of other interpreters",
  java: "Code and options of Java and .NET",
  builds: "Programs and options of builds",
  git: "Programs and options of Git, SSH and GnuPG",
  programs: "Programs that other programs start",
  endpoints: "The hosts to which clients send requests with credentials",
  cloud:
    "Configuration, plugins and identities of the tools of AWS, Azure, Cloudflare and Google Cloud",
  kubernetes: "Clusters, plugins and options of kubectl and Helm",
  docker: "Hosts, credentials and options of Docker and other container tools",
  provisioning: "Plugins, states and options of Terraform, Packer, Pulumi and Ansible",
  "": "What the runner itself tells the command",
};

/** Matches the names of a list, in which `*` stands for any characters. */
export function toPattern(names: readonly string[], ignoresCase: boolean): RegExp {
  return new RegExp(`^(?:${names.join("|").replaceAll("*", ".*")})$`, ignoresCase ? "i" : "");
}
