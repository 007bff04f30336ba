import { createEngine } from '../../../../src/detection/log-engine/process/engine.ts';
import { createFileStore } from '../../../../src/detection/log-store/files/file-store.ts';
import { openFixtureStore, type FixtureEvent } from '../../../../src/detection/log-query/search/fixture-store.ts';
import { compileExpression, createFieldRow } from '../../../../src/detection/matching/compile-expression.ts';
import { readEventField } from './read-event-field.ts';
import type { Expression } from '../../../../src/detection/matching/expression.ts';

const everything = { from: new Date(0), to: new Date('2100-01-01'), clock: 'event' as const };
const limits = { rowsMax: 100_000, groupsMax: 100_000, timeoutMs: 60_000 };

/** Events by dataset in the embedded engine. `run` returns the rows of a query. Each event has its id in `n`. */
export async function openEvents(dataDir: string, events: Record<string, FixtureEvent[]>) {
  const segmentStore = createFileStore(dataDir);
  const engine = createEngine({ directoryOf: segmentStore.folderOf });
  const deps = { engine, segmentStore, organization: '00000000-0000-7000-8000-000000000001' };
  const undatedMicros = Date.parse('2024-06-01T00:00:00Z') * 1000;
  const store = await openFixtureStore(deps, { events, fields: new Map(), undatedMicros });
  return {
    run: async (query: string) => (await store.search(query, everything, limits, AbortSignal.timeout(60_000))).rows,
    close: async () => {
      await store.close();
      await engine.close();
    },
  };
}

/** Evaluates a condition on an event with the evaluator of the service. A field is called in the event as in the rule. */
export function matchesEvent(condition: Expression, event: FixtureEvent): boolean {
  const fields: (string | null)[] = [];
  const columnOf = (field: string | null): number => {
    const at = fields.indexOf(field);
    return at >= 0 ? at : fields.push(field) - 1;
  };
  const matches = compileExpression(condition, columnOf);
  const texts = fields.map((field) => (field === null ? JSON.stringify(event) : readEventField(event, field)));
  return matches(createFieldRow((column) => texts[column]!));
}
