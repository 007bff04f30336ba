import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../../test/support/program.ts';
import { workerLoops } from './worker-loops.ts';

const named = Object.values(workerLoops).flatMap((loops) => Object.keys(loops));

test('every loop of the code belongs to exactly one role', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.match(/(?<!\.test)\.ts$/),
  );
  const declared = files.flatMap((file) =>
    [
      ...readFileSync(join(root, 'src', file), 'utf8').matchAll(
        /^(?:export )?(?:async )?(?:function|const) (\w+)Loop\b/gm,
      ),
    ].map(([, name]) => name!),
  );
  // `runLoop` is what loops are made of, and every process cleans its own copies of log files.
  const expected = declared.filter((name) => !['run', 'cleanCopies'].includes(name));
  expect(named.toSorted()).toEqual(expected.toSorted());
});
