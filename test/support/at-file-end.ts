type End = () => unknown;

const ends: End[] = [];

/** Calls `end` after the tests of this file, the last registered first. Unlike `afterAll` it can be called in a test or a hook, where Vitest would drop it. */
export function atFileEnd(end: End): void {
  ends.push(end);
}

/** Calls what was registered. An end that fails keeps no other from being called. */
export async function endFile(): Promise<void> {
  const failures: unknown[] = [];
  while (ends.length > 0) {
    try {
      await ends.pop()!();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'Something that this test file started did not end.');
}
