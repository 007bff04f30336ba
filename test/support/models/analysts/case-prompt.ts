import type { ModelRequestRecord } from '../model-server.ts';

export type Row = { rowId: string; time: string | null; fields: Record<string, string> };
type Column = { name: string; kind: string };
/** A tool result in the conversation. A refused call and one that failed have no rows. */
export type Result = {
  observation: string;
  columns: Column[];
  rows: Row[];
  total: number;
  hasEvents: boolean | null;
  note?: string;
};

/** A case as the prompt shows it, and what the conversation found so far. Nothing else is known to a scripted analyst. */
export type PromptCase = {
  entity: string;
  severity: string;
  facts: Record<string, unknown>;
  rows: Row[];
  notes: { id: string; entity: string; note: string }[];
  hits: { id: string; detection: string; status: string; isReviewed: boolean; reason: string | null }[];
  entries: { list: string; entry: string }[];
  items: { id: string; indicator: string; title: string }[];
  documents: { name: string; content: string }[];
  query: string;
  tools: readonly string[];
  results: (Result | undefined)[];
};

const block = /<((?:data|docs|detection)-[0-9a-f]+)>\n([\s\S]*?)\n<\/\1>/g;

/** Returns the delimited texts of a prompt, parsed. One that was cut is undefined. */
const listBlocks = (text: string): unknown[] =>
  [...text.matchAll(block)].map(([, , body]) => {
    try {
      return JSON.parse(body!);
    } catch {
      return undefined;
    }
  });

const listDocuments = (system: string): PromptCase['documents'] =>
  listBlocks(system).filter(
    (one): one is PromptCase['documents'][number] =>
      typeof (one as { content?: unknown } | undefined)?.content === 'string',
  );

const hasQuery = (block: unknown): block is { query: string } =>
  typeof (block as { query?: unknown } | undefined)?.query === 'string';

/** Reads the conversation of an investigation. */
export function readCase({ system, turns, tools }: ModelRequestRecord): PromptCase {
  const [head, rows, ...known] = listBlocks(turns[0]!.text);
  const { entity, severity, facts } = head as Pick<PromptCase, 'entity' | 'severity' | 'facts'>;
  const items = known.find((one) => Array.isArray(one)) as PromptCase['items'] | undefined;
  const own = known.find((one) => !Array.isArray(one) && !hasQuery(one)) as Partial<PromptCase> | undefined;
  // That of the detection, which a response agent finds in the case.
  const { query } = [...listBlocks(system), ...known].find(hasQuery)!;
  const isPlanned = turns.some(({ role, text }) => role === 'user' && text.includes('First record your plan'));
  return {
    entity,
    severity,
    facts,
    rows: rows as Row[],
    notes: own?.notes ?? [],
    hits: own?.hits ?? [],
    entries: own?.entries ?? [],
    items: items ?? [],
    documents: listDocuments(system),
    query,
    // After the turn of the plan, nobody has to plan again.
    tools: isPlanned && tools.length > 1 ? tools.filter((name) => name !== 'write_plan') : tools,
    results: turns
      .filter(({ role }) => role === 'tool')
      .slice(isPlanned ? 1 : 0)
      .map(({ text }) => listBlocks(text)[0] as Result | undefined)
      .map((one) => (Array.isArray(one?.rows) ? one : undefined)),
  };
}

/** Returns the first value of a field of the rows. */
export const valueOf = ({ rows }: Pick<PromptCase, 'rows'>, field: string): string | undefined =>
  rows.find(({ fields }) => fields[field] !== undefined)?.fields[field];

/** Returns all texts that a case shows which somebody outside may have written, with where each stands. */
export function listOutsideTexts({ rows, items, results }: PromptCase): string[] {
  const cells = [...rows, ...results.flatMap((result) => result?.rows ?? [])].flatMap(({ fields }) =>
    Object.values(fields),
  );
  return [...cells, ...items.map(({ title }) => title)];
}
