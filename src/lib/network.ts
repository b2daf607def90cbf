/** The network, as a parameter. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;
