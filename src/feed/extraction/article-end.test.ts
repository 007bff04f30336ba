import { expect, test } from 'vitest';
import { extractItem, findArticleEnd } from './extract-item.ts';

const article =
  'A lock can be opened with a magnet\n\nResearchers showed how a magnet opens the lock of a bicycle. The maker was informed in May and replaces the part free of charge.\n';

test.each(['Read more', 'Related:', 'More Stories', '## Related articles', 'Leave a Reply', 'Share this: '])(
  'an article ends before the line %s',
  (line) => {
    const text = `${article}${line}\n- Akira ransomware encrypted servers of three hospitals\n`;
    expect(findArticleEnd(text)).toBe(article.length);
    const { severity, classification, summary } = extractItem({ text, publishTime: '2026-03-02T00:00:00Z' });
    expect({ severity, attack: classification.attack }).toEqual({ severity: 'low', attack: [] });
    expect(summary).not.toContain('Akira');
  },
);

test('does not end an article at a link near its beginning or at a word of a sentence', () => {
  const text = `Title\nRead more\n${article.repeat(2)}\nComments by the maker: none. Related work exists.`;
  expect(findArticleEnd(text)).toBe(text.length);
});

test('takes no navigation for the title', () => {
  expect(extractItem({ text: `Skip to main content\n${article}` }).title).toBe('A lock can be opened with a magnet');
  expect(extractItem({ text: `Home\nMenu\n${article}` }).title).toBe('A lock can be opened with a magnet');
});
