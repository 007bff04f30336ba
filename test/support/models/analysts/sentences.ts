/**
 * The sentences that scripted analysts state as facts. Each has a form, so that a truthful verifier can read it: `holds` returns whether the cited
 * cells say so. A sentence of no form says something that no cell states.
 */
export type ShownCell = { field: string; text: string; time: string | null };

type Sentence = {
  pattern: RegExp;
  isExcuse: boolean;
  holds: (parts: string[], cells: readonly ShownCell[]) => boolean;
};

const hasText = (cells: readonly ShownCell[], text: string): boolean =>
  cells.some((cell) => cell.text === text || cell.text.split('\n').includes(text));

export const sayField = (field: string, value: string): string => `The field ${field} is "${value}".`;
export const sayCount = (count: string, field: string, value: string): string =>
  `There are ${count} events whose ${field} is "${value}".`;
export const sayTwoPlaces = (user: string, from: string, to: string): string =>
  `"${user}" signed in from "${from}" and from "${to}".`;
export const sayQuote = (entity: string, quote: string): string => `About "${entity}" it is recorded: "${quote}".`;
export const sayListed = (entity: string, entry: string): string =>
  `About "${entity}": the organization lists "${entry}".`;
export const sayJudged = (entity: string, status: string): string =>
  `About "${entity}": people judged the same as "${status}".`;
export const sayRecurs = (entity: string, fact: string, times: string): string =>
  `About "${entity}": the same was found before, ${fact} is ${times}.`;
export const sayCommon = (entity: string, value: string): string =>
  `About "${entity}": many others have had "${value}" for long.`;

const sentences: Sentence[] = [
  {
    pattern: /^The field (\S+) is "([\s\S]*)"\.$/,
    isExcuse: false,
    holds: ([field, value], cells) =>
      cells.length > 0 && cells.every((cell) => cell.field === field && cell.text.includes(value!)),
  },
  {
    pattern: /^There are (\d+) events whose (\S+) is "([\s\S]*)"\.$/,
    isExcuse: false,
    holds: ([count, , value], cells) => hasText(cells, count!) && hasText(cells, value!),
  },
  {
    pattern: /^"([\s\S]*)" signed in from "([\s\S]*)" and from "([\s\S]*)"\.$/,
    isExcuse: false,
    holds: ([, from, to], cells) => hasText(cells, from!) && hasText(cells, to!),
  },
  {
    pattern: /^About "([^"]*)" it is recorded: "([\s\S]*)"\.$/,
    isExcuse: true,
    holds: ([, quote], cells) => cells.some(({ text }) => text.includes(quote!)),
  },
  {
    pattern: /^About "([^"]*)": the organization lists "([\s\S]*)"\.$/,
    isExcuse: true,
    holds: ([, entry], cells) => cells.some(({ text }) => text.includes(entry!)),
  },
  {
    pattern: /^About "([^"]*)": people judged the same as "([\s\S]*)"\.$/,
    isExcuse: true,
    holds: ([, status], cells) => cells.some(({ text }) => text.includes(status!)),
  },
  {
    pattern: /^About "([^"]*)": the same was found before, (\S+) is (\d+)\.$/,
    isExcuse: true,
    holds: ([, fact, times], cells) => cells.some(({ field, text }) => field === fact && text === times),
  },
  {
    pattern: /^About "([^"]*)": many others have had "([\s\S]*)" for long\.$/,
    isExcuse: true,
    holds: ([, value], cells) => hasText(cells, value!),
  },
];

/** What a sentence says, judged by its cells. `entity` is that of an excuse. */
export type ReadSentence = { holds: boolean; isExcuse: boolean; entity: string | null };

/** Reads a sentence of a known form. Returns undefined for any other. */
export function readSentence(text: string, cells: readonly ShownCell[]): ReadSentence | undefined {
  for (const { pattern, isExcuse, holds } of sentences) {
    const parts = pattern.exec(text)?.slice(1);
    if (parts) return { holds: holds(parts, cells), isExcuse, entity: isExcuse ? parts[0]! : null };
  }
  return undefined;
}
