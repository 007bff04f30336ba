/** Returns the host without the brackets that a URL puts around an IPv6 address (RFC 3986, section 3.2.2). */
export const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/** Returns the host of a URL in lower case, an IPv6 address with its brackets, or '' if the text is not a URL. */
export const extractUrlHost = (url: string): string =>
  /^[a-z0-9+.-]+:\/\/(?:[^/?#@]*@)?(\[[^\]]+\]|[^/:?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? '';

/** Like `extractUrlHost`, but returns an IPv6 address without brackets. */
export const extractBareHost = (url: string): string => withoutBrackets(extractUrlHost(url));
