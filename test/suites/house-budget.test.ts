import { expect, test } from 'vitest';
import { countFigures } from '../../scripts/house-budget.ts';

const texts = new Map([
  ['src/a/first.ts', "import { two } from './second.ts';\nimport { three } from '../b/third.ts';\n"],
  ['src/a/second.ts', 'export const two = 2;\n'],
  ['src/b/third.ts', "import type { First } from '../a/first.ts';\nexport const three = 3;\n"],
  ['src/a/inner/fourth.ts', `import { two } from '../second.ts';\n${'//\n'.repeat(70)}`],
  ['src/a/fifth.ts', "const load = () => import('./inner/fourth.ts');\n"],
]);

test('counts files, fragments and folders that import each other', () => {
  expect(countFigures(texts)).toEqual({
    files: 5,
    lines: 77,
    folders: 3,
    depth: 3,
    longestFile: 71,
    fragments: 0,
    mutualFolders: 2,
    mutualNeighbors: 1,
    pairs: ['src/a src/b', 'src/a src/a/inner'],
  });
  const alone = new Map([...texts].filter(([file]) => !file.endsWith('fourth.ts')));
  expect(countFigures(alone)).toMatchObject({ fragments: 1, mutualFolders: 1 });
});
