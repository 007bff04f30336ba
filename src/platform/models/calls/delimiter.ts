import { hash, randomBytes } from 'node:crypto';

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

/**
 * Creates a delimiter for texts of a prompt that providers cache: the prompt stays the same while the texts do. Its tag is a hash of the texts,
 * so no text can contain the tag that depends on it.
 */
export const createStableDelimiter = (kind: string, texts: unknown): Delimiter =>
  createDelimiter(`${kind}-${hash('sha256', JSON.stringify(texts)).slice(0, 24)}`);
