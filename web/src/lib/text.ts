const numbers = new Intl.NumberFormat('en');

export const formatNumber = (value: number): string => numbers.format(value);

/** Turns an API name such as `first_occurrence` into words: `First occurrence`. */
export function toWords(name: string): string {
  const words = name.replace(/[_-]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const countOf = (count: number, noun: string, plural = `${noun}s`): string =>
  `${formatNumber(count)} ${count === 1 ? noun : plural}`;

/** Joins class names, without the empty ones. */
export const classes = (...names: (string | false | undefined)[]): string => names.filter(Boolean).join(' ');
