/** Returns the host of an address without `www.`, by which its publisher is known. Undefined if there is no address with a host. */
export const toPublisherHost = (url: string | undefined): string | undefined =>
  (url && URL.parse(url)?.hostname.replace(/^www\./, '')) || undefined;
