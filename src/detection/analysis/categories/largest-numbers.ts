import type { MemoryEntry, RecalledMemory } from '../memory/memory.ts';
import { appendToList } from '../memory/recall.ts';
import { compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';

/** The memory key of the largest numbers of a window. */
export const largestKey = 'largest';
const largestMax = 10;

type GroupedNumber = { entity: string; number: number; group: string };

/** Remembers the ten largest numbers of each peer group of a window, so that a later window can compare with entities that it does not contain. */
export function rememberLargest(numbers: readonly GroupedNumber[]): MemoryEntry[] {
  const byGroup = Map.groupBy(numbers, ({ group }) => group);
  return [...byGroup.values()].flatMap(rememberLargestOfGroup);
}

function rememberLargestOfGroup(numbers: readonly GroupedNumber[]): MemoryEntry[] {
  return numbers
    .filter(({ number }) => number > 0)
    .toSorted((a, b) => b.number - a.number || compareCodeUnits(a.entity, b.entity))
    .slice(0, largestMax)
    .map(({ entity, number, group }) => ({
      key: largestKey,
      entity,
      number: null,
      value: JSON.stringify([number, group]),
    }));
}

/** Returns the remembered numbers of each entity of each peer group in the windows before a time. */
export function recallLargest({ summaries }: RecalledMemory, before: number): Map<string, Map<string, number[]>> {
  const byGroup = new Map<string, Map<string, number[]>>();
  for (const { at, entity, value } of summaries) {
    if (at >= before) continue;
    const [number, group] = JSON.parse(value) as [number, string];
    const numbers = byGroup.get(group) ?? new Map<string, number[]>();
    byGroup.set(group, numbers);
    appendToList(numbers, entity, number);
  }
  return byGroup;
}
