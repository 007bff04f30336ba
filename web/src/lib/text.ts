const numbers = new Intl.NumberFormat('en');

export const formatNumber = (value: number): string => numbers.format(value);

/** Shortens an identifier in the middle, so that both ends stay comparable: `019ab3…7f21`. */
export const shortenMiddle = (text: string, max = 12): string =>
  text.length <= max ? text : `${text.slice(0, Math.ceil(max / 2))}…${text.slice(-Math.floor(max / 2) + 1)}`;

const abbreviations = /\b(?:asn|cve|cvss|cwe|dns|id|ip|tlp|uri|url|uuid)(?=s?\b)/gi;

/** Turns an API name such as `first_occurrence` or `external_id` into words: `First occurrence`, `External ID`. */
export function toWords(name: string): string {
  const words = name.replace(/[_-]/g, ' ').replace(abbreviations, (letters) => letters.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Turns the name of a field, in whatever case it is written, into words: `vendorProject` into `Vendor project`. */
export const fieldToWords = (name: string): string => toWords(name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase());

export const countOf = (count: number, noun: string, plural = `${noun}s`): string =>
  `${formatNumber(count)} ${count === 1 ? noun : plural}`;

/** Joins class names, without the empty ones. */
export const classes = (...names: (string | false | undefined)[]): string => names.filter(Boolean).join(' ');

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Returns a size with three digits and its decimal unit: `1.23 GB`. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(byteUnits.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${value.toFixed(power === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2)} ${byteUnits[power]}`;
}

/** Returns an amount of US dollars. Amounts below a cent keep four places. Null: a model that had a part in it has no price. */
export const formatMoney = (usd: number | null): string =>
  usd === null
    ? 'unknown'
    : `$${usd === 0 || usd >= 0.01 ? usd.toFixed(2) : usd < 0.0001 ? '<0.0001' : usd.toFixed(4)}`;
