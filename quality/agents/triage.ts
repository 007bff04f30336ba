import { inOrg, queryRows } from '../../src/platform/db/db.ts';
import { executeDueRuns } from '../../src/detection/runs/workers/run-loops.ts';
import type { ModelStep } from '../../src/platform/models/model-request.ts';
import type { Verdict } from '../../src/detection/verdicts/verdict.ts';
import type { Detection } from '../../src/detection/detections/record/detection.schema.ts';
import { scriptedAnalysts, type AnalystName } from '../../test/support/models/analysts/analysts.ts';
import type { QualityFigure } from '../figures.ts';
import { requireData } from '../recorded-inputs.ts';
import { chooseEvenly, printResult, today, withScripted, type AgentOptions } from './agents.ts';
import { readCases, type AgentCase, type CaseKind } from './case-table.ts';
import { caseAlias, grantLookups, lookupTools, withCaseWorld, type CaseProgram, type CaseWorld } from './case-world.ts';
import { createTruth, isResolved, isShown, measureColumn } from './column-figures.ts';
import { investigatedAt } from './company-logs.ts';
import { runColumn, type CaseResult } from './run-column.ts';
import {
  formatTriageFigures,
  renderAgentsPage,
  readTriage,
  writeTriage,
  type Proposals,
  type TriageColumn,
} from './agents-page.ts';

/** A hit of a case with what the shipped agent left on it. `comment` is null without one, and `proposed` without a proposed status. */
export type TriagedCase = CaseResult & { comment: string | null; proposed: string | null; isByHand: boolean };

/**
 * Lets the built-in analyst raise the hits of the recorded cases, and the shipped triage agent look into each, with every scripted analyst behind its
 * alias and another one that verifies truly.
 */
export async function measureTriage({ verbose, write, analyst, cases: max }: AgentOptions): Promise<QualityFigure[]> {
  requireData();
  const all = readCases();
  const cases = max === undefined ? all : chooseEvenly(all, Number(max));
  const isHarmless = createTruth(cases);
  const columns: TriageColumn[] = [];
  await withCaseWorld(
    cases,
    (line) => console.log(line),
    async (world) => {
      for (const name of Object.keys(scriptedAnalysts) as AnalystName[]) {
        if (analyst !== undefined && analyst !== name) continue;
        const startedAt = performance.now();
        const { triaged, failures } = await withScripted(world, { name, verifies: true, isHarmless }, (program) =>
          triageCases(world, program, cases),
        );
        if (verbose) for (const one of triaged) printTriaged(one);
        for (const failure of failures) console.log(`failed: ${failure}`);
        const ms = performance.now() - startedAt;
        columns.push({ name, date: today(), ...measureTriaged(triaged, { failures, ms, isHarmless }) });
        console.log(`${name}: ${(ms / 1000).toFixed(0)} s`);
      }
    },
  );
  if (write) {
    writeTriage([...readTriage().filter((one) => !columns.some(({ name }) => name === one.name)), ...columns]);
    renderAgentsPage();
  }
  return formatTriageFigures(columns);
}

function printTriaged(one: TriagedCase): void {
  printResult(one);
  console.log(`  proposed: ${one.proposed ?? 'nothing'}${one.isByHand ? ', started by hand' : ''}`);
}

/** Adds the shipped agent to every company with the tools that ask its system of record, and runs the cases. */
async function triageCases(world: CaseWorld, program: CaseProgram, cases: readonly AgentCase[]) {
  const agents = new Map<string, string>();
  for (const [company, { detections }] of world.companies) {
    const call = program.callAs(company);
    for (const id of detections.values())
      await call('PUT', `/api/detections/${id}`, { modelAlias: 'analyst', planningMode: 'never' });
    const options = { modelAlias: caseAlias, runsPerHourMax: 1000 };
    const agent = await call<Detection>('POST', '/api/shipped-agents/triage', options);
    await call('PUT', `/api/agents/${agent.id}`, { toolNames: [...agent.toolNames, ...lookupTools] });
    await grantLookups(call, agent.id, world.lookupUrl);
    agents.set(company, agent.id);
  }
  const { results, failures } = await runColumn(world, program, cases);
  const triaged: TriagedCase[] = [];
  for (const result of results) {
    if (result.hitId === null) continue;
    const agentId = agents.get(result.case.company)!;
    let read = await readTriaged(world, program, { result, agentId, isByHand: false });
    if (!read) {
      // A hit of a wave, or one that an earlier case found.
      await program.callAs(result.case.company)('POST', `/api/agents/${agentId}/run`, { hitId: result.hitId });
      await executeDueRuns(program.deps, investigatedAt, { concurrency: 1 });
      read = await readTriaged(world, program, { result, agentId, isByHand: true });
    }
    if (read) triaged.push(read);
    else failures.push(`${result.case.id}: no run of the agent completed`);
  }
  return { triaged, failures };
}

type TriageRow = { runId: string; entities: string; rows: string; body: string | null; input: string | null };

async function readTriaged(
  world: CaseWorld,
  { deps }: CaseProgram,
  { result, agentId, isByHand }: { result: CaseResult; agentId: string; isByHand: boolean },
): Promise<TriagedCase | undefined> {
  const { orgId } = world.companies.get(result.case.company)!;
  return inOrg(deps.db, orgId, async (tx) => {
    const [row] = await queryRows<TriageRow>(tx)`
      select r.id as "runId", r.entities, h.rows, c.body, p.input from runs r
      join hits h on h.organization_id = r.organization_id and h.id = ${result.hitId}::uuid
      left join hit_comments c on c.organization_id = r.organization_id and c.run_id = r.id
      left join agent_calls p on p.organization_id = r.organization_id and p.run_id = r.id and p.tool = 'set_hit_status'
      where r.organization_id = ${orgId} and r.detection_id = ${agentId} and r.status = 'completed'
        and r.event::json ->> 'hitId' = ${result.hitId} order by r.due_at, r.id limit 1`;
    if (!row) return undefined;
    const steps = await queryRows<{ body: string }>(tx)`select body from run_steps
      where organization_id = ${orgId} and run_id = ${row.runId} order by n`;
    const [verdict] = JSON.parse(row.entities) as Verdict[];
    return {
      ...result,
      hitId: null,
      isByHand,
      outcome: verdict?.verdict ?? 'unjudged',
      verdict: verdict ?? null,
      rows: JSON.parse(row.rows) as CaseResult['rows'],
      steps: steps.map(({ body }) => JSON.parse(body) as ModelStep),
      comment: row.body,
      proposed: row.input === null ? null : (JSON.parse(row.input) as { status: string }).status,
    };
  });
}

const rightStatus: Record<CaseKind, string | null> = {
  attack: 'true_positive',
  planted: 'true_positive',
  'look-alike': 'benign',
  missing: null,
};

type Measurement = { failures: string[]; ms: number; isHarmless: (entity: string) => boolean };

function measureTriaged(triaged: readonly TriagedCase[], { failures, ms, isHarmless }: Measurement) {
  const of = (kind: CaseKind): Proposals => {
    const cases = triaged.filter((one) => one.case.kind === kind);
    const right = cases.filter(({ proposed }) => proposed !== null && proposed === rightStatus[kind]).length;
    const open = cases.filter(({ proposed }) => proposed === null).length;
    return { right, open, wrong: cases.length - right - open };
  };
  const sentences = triaged.flatMap(listFound);
  return {
    proposals: { attack: of('attack'), planted: of('planted'), 'look-alike': of('look-alike'), missing: of('missing') },
    byHand: triaged.filter(({ isByHand }) => isByHand).length,
    withoutComment: triaged.filter(({ comment }) => comment === null).length,
    commented: sentences.length,
    unprovenCommented: sentences.filter(({ isProven }) => !isProven).length,
    figures: measureColumn({ results: [...triaged], failures, ms }, isHarmless),
  };
}

/** Returns the sentences that a comment shows as found, as a reader sees them, and whether each is a claim that holds and whose citations stand in the data. */
function listFound(one: TriagedCase): { sentence: string; isProven: boolean }[] {
  const part = /(?:^|\n\n)Found:\n([\s\S]*?)(?:\n\n(?=[A-Z][^\n]*:(?:\n| ))|$)/.exec(one.comment ?? '')?.[1] ?? '';
  const lines = part === '' ? [] : part.split(/\n(?=- )/).map((line) => line.slice(2));
  return lines.map((sentence) => {
    const claim = one.verdict?.claims.find(({ text }) => text === sentence);
    return { sentence, isProven: claim !== undefined && isShown(claim) && isResolved(claim, one) };
  });
}
