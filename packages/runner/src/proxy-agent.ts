/** For Node before 24.14, which has undici inside, but not what sets its proxies. A file of its own, because it is large. */
import { EnvHttpProxyAgent, getGlobalDispatcher, setGlobalDispatcher } from "undici";

/** Returns how to stop using them. */
export function useProxies(environment: NodeJS.Dict<string>): () => void {
  const before = getGlobalDispatcher();
  const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY, no_proxy, NO_PROXY } = environment;
  const httpProxy = http_proxy || HTTP_PROXY;
  const httpsProxy = https_proxy || HTTPS_PROXY;
  setGlobalDispatcher(
    new EnvHttpProxyAgent({
      ...(httpProxy && { httpProxy }),
      ...(httpsProxy && { httpsProxy }),
      noProxy: no_proxy ?? NO_PROXY ?? "",
    }),
  );
  return () => setGlobalDispatcher(before);
}
