import { expect, test } from 'vitest';
import { createClockGuard } from './clock-guard.ts';

const minute = 60_000;

function clocks() {
  const time = { slot: Date.UTC(2026, 0, 1), machine: 0 };
  const guard = createClockGuard(
    () => new Date(time.slot),
    () => time.machine,
  );
  const pass = (machineMs: number, slotMs = machineMs): boolean => {
    time.machine += machineMs;
    time.slot += slotMs;
    return guard.check();
  };
  guard.check();
  return { guard, pass };
}

test.each([
  ['a jump of 61 s back', -61_000, false],
  ['a jump of 59 s back', -59_000, true],
  ['a jump of 16 min forward', 16 * minute, false],
  ['a jump of 14 min forward', 14 * minute, true],
])('%s', (_name, jump, goesOn) => {
  const { guard, pass } = clocks();
  expect(pass(1000, 1000 + jump)).toBe(goesOn);
  expect(guard.reason() === null).toBe(goesOn);
});

test('scheduling goes on after five stable minutes, counted from the last jump', () => {
  const { guard, pass } = clocks();
  expect(pass(1000, 3_600_000)).toBe(false);
  expect(pass(4 * minute)).toBe(false);
  expect(pass(1000, -3_600_000)).toBe(false);
  expect(pass(4 * minute)).toBe(false);
  expect(guard.reason()).toContain('clock jumped by -3601 s');
  expect(pass(minute)).toBe(true);
  expect(guard.reason()).toBeNull();
});
