import { randomBytes } from 'node:crypto';

/** Wraps untrusted text for a prompt. The tag is random per conversation, so no log row can contain its closing tag. */
export type Delimiter = { tag: string; wrap: (value: unknown, max?: number) => string };

const truncationNote = '… [cut]';

export function createDelimiter(tag = `data-${randomBytes(9).toString('hex')}`): Delimiter {
  return {
    tag,
    wrap: (value, max = 60_000) => {
      const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
      return `<${tag}>\n${text.length > max ? `${text.slice(0, max)}${truncationNote}` : text}\n</${tag}>`;
    },
  };
}
