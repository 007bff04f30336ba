import { randomBytes } from 'node:crypto';

/** Wraps what comes from outside. The mark is drawn for one conversation, so that no log row can know how its block ends. */
export type Delimit = { tag: string; wrap: (value: unknown, max?: number) => string };

const cutNote = '… [cut]';

export function createDelimit(tag = `data-${randomBytes(9).toString('hex')}`): Delimit {
  return {
    tag,
    wrap: (value, max = 60_000) => {
      const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
      return `<${tag}>\n${text.length > max ? `${text.slice(0, max)}${cutNote}` : text}\n</${tag}>`;
    },
  };
}
