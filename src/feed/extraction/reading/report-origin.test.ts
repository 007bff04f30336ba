import { expect, test } from 'vitest';
import { findPublisher, findPublishTime } from './report-origin.ts';

test.each([
  ['https://www.example.co.uk/blog/2026/report', 'example.co.uk'],
  ['https://research.example.com/a', 'example.com'],
  ['https://github.com/Acme-Labs/iocs/blob/main/README.md', 'Acme-Labs'],
  [undefined, undefined],
])('publisher of %s', (address, publisher) => {
  expect(findPublisher(address)).toBe(publisher);
});

test.each([
  ['Blog\n/\nFebruary 20, 2024\n\nA miner', '2024-02-20'],
  ['2026-06-29 (MONDAY): SCAM\n\nNotes', '2026-06-29'],
  ['Week in Review: February 27, 2026\n\nText', '2026-02-27'],
  ['A title\n\nPublished On : 2026-04-08\nShare', '2026-04-08'],
  ['Report Date: Saturday, May 16, 2026\n', '2026-05-16'],
  ['A title\n\nPosted by Jane Doe on 3rd Sept. 2025 at noon', '2025-09-03'],
  ['Titre\n\nDate : 15 décembre 2025\nMise à jour : 26 janvier 2026', '2025-12-15'],
  ['3. März 2026, 09:15\n\nText', '2026-03-03'],
  ['Lunes, 3 de noviembre de 2025\n\nTexto', '2025-11-03'],
  ['20 ноября 2025 г.\n\nТекст', '2025-11-20'],
  ['7 lutego 2026\n\nTekst', '2026-02-07'],
  ['概要\n\n2025年8月6日、著者', '2025-08-06'],
  ['제목 | 2025.05.11 |\n본문', '2025-05-11'],
  ['Titel\n\n03.02.2026\n', '2026-02-03'],
  ['Titolo\n\n26/09/2025\n', '2025-09-26'],
  ['A title\n\n03/02/2026\n', undefined],
  ['Seit dem 3. März 2026 wird die Lücke ausgenutzt.', undefined],
  ['A title\n\nThe flaw was disclosed on March 2, 2026 and patched later.', undefined],
  ['A title\n\n2026-02-31\n', undefined],
])('publish time of %j', (text, day) => {
  expect(findPublishTime(text, undefined)?.slice(0, 10)).toBe(day);
});

test('falls back to the day in the address', () => {
  const day = (address: string): string | undefined => findPublishTime('A title', address)?.slice(0, 10);
  expect(day('https://example.com/2023/11/24/report')).toBe('2023-11-24');
  expect(day('https://example.com/report-20251205')).toBe('2025-12-05');
  expect(day('https://example.com/2023/11/report-1234567890')).toBeUndefined();
});
