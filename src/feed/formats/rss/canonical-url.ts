const tracking =
  /^(?:utm_\w+|mtm_\w+|pk_\w+|at_\w+|mc_[ce]id|_hs\w+|hs_\w+|fbclid|gclid|gclsrc|dclid|msclkid|yclid|twclid|igshid|mkt_tok|trk\w*|ref|ref_src|ref_url|referrer|cmp|cmpid|icid|ncid|sr_share|spm|share|amp|outputtype|__twitter_impression|guccounter|s_cid|linkid|wt\.mc_id|ocid)$/i;
const wrapsMax = 3;
// Keys are indexed in the database.
const keyMaxChars = 1_500;

/**
 * Normalizes the address of an article (spec/feed.md, "canonicalKey"): removes scheme, `www.`, tracking parameters, fragment, trailing
 * slash, AMP and web archive. Returns undefined for anything but a web address and for a key that is too long.
 */
export function toCanonicalUrl(address: string): string | undefined {
  let url = URL.parse(address.trim());
  for (let wraps = 0; url && wraps < wrapsMax; wraps += 1) {
    const inner = innerAddress(url);
    if (inner === undefined) break;
    url = URL.parse(inner);
  }
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') return undefined;
  const host = url.host.replace(/^(?:www\d?|amp|m)\.(?=.+\.)/, '').replace(/\.$/, '');
  const path = url.pathname
    .replaceAll(/\/{2,}/g, '/')
    .replace(/(?:\/amp|\.amp)(?:\/|\.html)?$/i, '')
    .replace(/\/(?:index\.(?:html?|php|aspx?))?$/i, '');
  const kept = [...url.searchParams]
    .filter(([name]) => !tracking.test(name))
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const query = new URLSearchParams(kept).toString();
  const key = `${host}${path}${query === '' ? '' : `?${query}`}`;
  return key.length <= keyMaxChars ? key : undefined;
}

/** Returns the address inside a web archive or AMP cache address. */
function innerAddress({ hostname, pathname, search }: URL): string | undefined {
  const archived = /^\/web\/\d{4,14}(?:[a-z]{2}_)?\/(?:(https?):\/{1,2})?(.+)$/i;
  const match =
    hostname === 'web.archive.org'
      ? archived.exec(pathname)
      : hostname.endsWith('.cdn.ampproject.org')
        ? /^\/[a-z]\/()(?:s\/)?(.+)$/.exec(pathname)
        : /^(?:www\.)?google\.[a-z.]{2,6}$/.test(hostname)
          ? /^\/amp\/()(?:s\/)?(.+)$/.exec(pathname)
          : null;
  return match ? `${match[1] || 'https'}://${match[2]}${search}` : undefined;
}

/** Returns whether a page may declare this canonical address: one on the same site that is not its home page. */
export function isSameSite(page: string, canonical: string): boolean {
  const [from, to] = [URL.parse(page), URL.parse(canonical)];
  if (!from || !to || !/^https?:$/.test(to.protocol)) return false;
  const bare = (host: string): string => host.replace(/^(?:www\d?|amp|m)\./, '');
  const [a, b] = [bare(from.hostname), bare(to.hostname)];
  const isSite = a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);
  return isSite && (to.pathname !== '/' || to.search !== '' || from.pathname === '/');
}
