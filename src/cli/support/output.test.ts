import { expect, test } from 'vitest';
import { createProgress } from './output.ts';

function report(total: number, output: { isTTY?: boolean; columns?: number } = {}): string {
  let text = '';
  const progress = createProgress({ ...output, write: (part) => (text += part) }, 'files');
  for (let done = 1; done <= total; done += 1) progress(done, total, `file ${done}`);
  return text;
}

test.each([1, 3, 6, 36, 100])('prints at most six lines for %i steps, the last at the end', (total) => {
  const lines = report(total).trimEnd().split('\n');
  expect(lines).toHaveLength(Math.min(total, 6));
  expect(lines.at(-1)).toBe(`  file ${total}  ${total} of ${total} files`);
});

test('redraws one bar within the width of a terminal', () => {
  const text = report(4, { isTTY: true, columns: 40 });
  expect(text.match(/\n/g)).toHaveLength(1);
  expect(text).toContain('[██████░░░░░░░░░░░░░░░░░░] 1 of 4 files');
  for (const frame of text.trimEnd().split('\r\u001b[K')) expect(frame.length).toBeLessThan(40);
});
