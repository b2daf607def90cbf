export interface RefusedNames {
  /** What `--allow-variables` names. Absent: the class cannot be allowed. */
  class?: string;
  /** What a variable with such a name could do. */
  reason: string;
  /** `*` stands for any characters. */
  names: readonly string[];
  /** Whether programs read the names in upper and lower case. */
  anyCase?: true;
}

/**
 * Names of variables that change how programs load or run. Based on the lists of sudo (`env_delete`)
 * and glibc (`unsecvars.h`), and on the manuals of the programs. docs/runners.md has the same table.
 */
export const REFUSED_NAMES: readonly RefusedNames[] = [
  {
    class: "shell",
    reason: "Commands and options of shells",
    names: [
      ...["BASH_*", "BASHOPTS", "SHELLOPTS", "ENV", "ZDOTDIR", "PS4", "PROMPT_COMMAND", "IFS"],
      ...["CDPATH", "FPATH", "GLOBIGNORE", "EXECIGNORE", "NULLCMD", "READNULLCMD", "TMPPREFIX"],
      ...["HISTFILE", "INPUTRC", "POSIXLY_CORRECT", "__BASH_FUNC*"],
    ],
  },
  {
    class: "loader",
    reason: "Code and data that the dynamic loader and the C library load",
    names: [
      ...["LD_*", "_RLD*", "DYLD_*", "LDR_*", "LIBPATH", "SHLIB_PATH", "GCONV_PATH", "GETCONF_DIR"],
      ...["GLIBC_TUNABLES", "MALLOC_*", "LOCPATH", "NLSPATH", "PATH_LOCALE", "TZDIR", "TERMCAP"],
      ...["TERMINFO", "TERMINFO_DIRS", "TERMPATH", "XDG_*"],
    ],
  },
  {
    class: "hosts",
    reason: "The hosts that names lead to",
    names: ["HOSTALIASES", "LOCALDOMAIN", "RES_OPTIONS", "RESOLV_HOST_CONF", "NIS_PATH", "KRB5*"],
  },
  { class: "proxies", reason: "Proxies", names: ["*_PROXY"], anyCase: true },
  {
    class: "certificates",
    reason: "Trust in certificates, and the options of clients",
    names: [
      ...["SSL_CERT_*", "SSLKEYLOGFILE", "OPENSSL_*", "*_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"],
      ...["NODE_TLS_REJECT_UNAUTHORIZED", "CURL_*", "WGETRC", "NETRC"],
    ],
  },
  {
    class: "node",
    reason: "Code and options of Node, Bun and Deno",
    names: [
      ...["NODE_OPTIONS", "NODE_PATH", "NODE_REPL_*", "NODE_V8_COVERAGE", "NODE_ICU_DATA"],
      ...["NODE_COMPILE_CACHE", "TS_NODE_*", "COREPACK_*", "BUN_*", "DENO_*"],
    ],
  },
  {
    class: "npm",
    reason: "Options of npm, pnpm and Yarn",
    names: ["NPM_CONFIG_*", "PNPM_CONFIG_*", "YARN_*"],
    anyCase: true,
  },
  {
    class: "python",
    reason: "Code and options of Python",
    names: [
      ...["PYTHON*", "PIP_*", "UV_CONFIG_FILE", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL"],
      ...["UV_FIND_LINKS", "UV_INDEX*", "UV_PYTHON*", "VIRTUAL_ENV"],
    ],
  },
  {
    class: "interpreters",
    reason: "Code and options of other interpreters",
    names: [
      ...["PERL*", "RUBY*", "GEM_*", "BUNDLE_*", "BUNDLER_*", "PHPRC", "PHP_INI_SCAN_DIR"],
      ...["COMPOSER_*", "LUA_*", "TCLLIBPATH", "R_ENVIRON*", "R_HOME", "R_LIBS*", "R_PROFILE*"],
      ...["ERL_*", "ELIXIR_ERL_OPTIONS"],
    ],
  },
  {
    class: "java",
    reason: "Code and options of Java and .NET",
    names: [
      ...["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JDK_JAVAC_OPTIONS"],
      ...["JAVA_OPTS", "JAVA_HOME", "CLASSPATH", "MAVEN_*", "GRADLE_*", "ANT_*", "SBT_OPTS"],
      ...["DOTNET_STARTUP_HOOKS", "DOTNET_ADDITIONAL_DEPS", "DOTNET_SHARED_STORE"],
      ...["DOTNET_ROOT*", "DOTNET_HOST_PATH", "DOTNET_CLI_HOME", "CORECLR_*", "COR_*", "NUGET_*"],
    ],
  },
  {
    class: "builds",
    reason: "Programs and options of builds",
    names: [
      ...["MAKEFLAGS", "MAKEFILES", "GNUMAKEFLAGS", "MFLAGS", "CC", "CXX", "RUSTC*", "RUSTFLAGS"],
      ...["RUSTUP_*", "CARGO_*", "CGO_*", "GOFLAGS", "GOENV", "GOROOT", "GOPATH", "GOBIN"],
      ...["GOTOOLCHAIN", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE", "GOINSECURE"],
      ...["GODEBUG", "TAR_OPTIONS"],
    ],
  },
  {
    class: "git",
    reason: "Programs and options of Git, SSH and GnuPG",
    names: ["GIT_*", "SSH_*", "SVN_SSH", "CVS_RSH", "RSYNC_*", "HGRCPATH", "GNUPGHOME"],
  },
  {
    class: "programs",
    reason: "Programs that other programs start",
    names: [
      ...["EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "FCEDIT", "*_EDITOR", "*_PAGER"],
      ...["*_ASKPASS", "SUDO_*", "LESS", "LESSOPEN", "LESSCLOSE", "LESSKEY*", "VIMINIT", "EXINIT"],
      ...["PSQLRC", "MYSQL_HOME"],
    ],
  },
  {
    class: "cloud",
    reason: "Configuration, plugins and identities of the tools of AWS, Azure and Google Cloud",
    names: [
      ...["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_PROFILE", "AWS_DEFAULT_PROFILE"],
      ...["AWS_DATA_PATH", "AWS_ENDPOINT_URL*", "AWS_CONTAINER_*", "AWS_EC2_METADATA_*"],
      ...["AWS_WEB_IDENTITY_TOKEN_FILE", "AZURE_CONFIG_DIR", "AZURE_EXTENSION_DIR", "CLOUDSDK_*"],
      ...["GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"],
    ],
  },
  {
    class: "kubernetes",
    reason: "Clusters, plugins and options of kubectl and Helm",
    names: ["KUBECONFIG", "KUBERC", "KUBECTL_*", "HELM_*"],
  },
  {
    class: "docker",
    reason: "Hosts, credentials and options of Docker and other container tools",
    names: [
      ...["DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_HOST", "DOCKER_CERT_PATH", "DOCKER_TLS*"],
      ...["BUILDKIT_HOST", "CONTAINER_HOST", "CONTAINERS_*", "REGISTRY_AUTH_FILE"],
    ],
  },
  {
    class: "provisioning",
    reason: "Plugins and options of Terraform, Packer, Pulumi and Ansible",
    names: [
      ...["TF_CLI_*", "TF_DATA_DIR", "TF_LOG_PATH*", "TF_PLUGIN_CACHE_*", "TF_REATTACH_PROVIDERS"],
      ...["TERRAFORM_CONFIG", "TERRAGRUNT_*", "TG_*", "PACKER_*", "PULUMI_HOME", "ANSIBLE_*"],
    ],
  },
  { reason: "What the runner itself tells the command", names: ["LONGSHORE_*"] },
];

export const REFUSED_CLASSES: readonly string[] = REFUSED_NAMES.flatMap((each) => each.class ?? []);
