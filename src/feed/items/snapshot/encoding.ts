import type { Encoding } from './page-cache.ts';

/** The best encoding of ours that an Accept-Encoding header allows (RFC 9110, 12.5.3): brotli, then gzip, then none. */
export function chooseEncoding(header: string | undefined): Encoding {
  if (!header) return 'identity';
  const weights = new Map<string, number>();
  for (const part of header.slice(0, 1_000).split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    weights.set(name, q === undefined ? 1 : Number(q.slice(2)) || 0);
  }
  const weigh = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0;
  const [br, gzip] = [weigh('br'), weigh('gzip')];
  if (br > 0 && br >= gzip) return 'br';
  return gzip > 0 ? 'gzip' : 'identity';
}

/** Whether an If-None-Match header names the tag; compared weakly (RFC 9110, 13.1.2). */
export function matchesTag(header: string | undefined, etag: string): boolean {
  if (!header) return false;
  const plain = etag.replace(/^W\//, '');
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === plain);
}
