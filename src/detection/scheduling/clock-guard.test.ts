import { expect, test } from 'vitest';
import { createClockGuard } from './clock-guard.ts';

const minute = 60_000;

function createClocks() {
  const time = { slot: Date.UTC(2026, 0, 1), machine: 0 };
  const guard = createClockGuard(
    () => new Date(time.slot),
    () => time.machine,
  );
  const advance = (machineMs: number, slotMs = machineMs): boolean => {
    time.machine += machineMs;
    time.slot += slotMs;
    return guard.check();
  };
  guard.check();
  return { guard, advance };
}

test.each([
  ['a jump of 61 s back', -61_000, false],
  ['a jump of 59 s back', -59_000, true],
  ['a jump of 16 min forward', 16 * minute, false],
  ['a jump of 14 min forward', 14 * minute, true],
])('pauses scheduling only for a jump beyond the limit: %s', (_name, jump, continues) => {
  const { guard, advance } = createClocks();
  expect(advance(1000, 1000 + jump)).toBe(continues);
  expect(guard.reason() === null).toBe(continues);
});

test('resumes scheduling five stable minutes after the last jump', () => {
  const { guard, advance } = createClocks();
  expect(advance(1000, 3_600_000)).toBe(false);
  expect(advance(4 * minute)).toBe(false);
  expect(advance(1000, -3_600_000)).toBe(false);
  expect(advance(4 * minute)).toBe(false);
  expect(guard.reason()).toContain('clock jumped by -3601 s');
  expect(advance(minute)).toBe(true);
  expect(guard.reason()).toBeNull();
});
