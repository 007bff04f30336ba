import { z } from 'zod';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import { findToolName } from '../../tools/tools.ts';
import type { Verdict } from '../verdict.ts';

/** A tool that was called for a candidate without failing. A response agent has no candidate. */
export type ToolUse = { candidateId: string | null; tool: string };

type Values<Shape> = { [F in keyof Shape]: z.infer<Shape[F]> };
type Check<Shape extends z.ZodRawShape> = {
  shape: Shape;
  sentence: (settings: Values<Shape>) => string;
  /** Returns whether the verdict on an entity, for which these tools were called, meets the criterion. */
  holds: (verdict: Verdict, settings: Values<Shape>, tools: readonly string[]) => boolean;
};
const define = <Shape extends z.ZodRawShape>(check: Check<Shape>): Check<Shape> => check;

const name = boundedString({ min: 1, max: 255 });
/** Tools have other names in older detections. */
const toolNameOf = (tool: string): string => findToolName(tool) ?? tool;

/** Criteria that code can decide, because they are about what a verdict cites and which tools were called. */
const checks = {
  cites_observation: define({
    shape: {},
    sentence: () => 'Every verdict cites the result of a tool.',
    holds: ({ evidence }) => evidence.some(({ observation }) => /^o\d+$/.test(observation)),
  }),
  cites_field: define({
    shape: { field: name },
    sentence: ({ field }) => `Every verdict cites the field ${field}.`,
    holds: ({ evidence }, { field }) => evidence.some((cited) => cited.field === field),
  }),
  uses_tool: define({
    shape: { tool: name },
    sentence: ({ tool }) => `Every investigation calls ${tool}.`,
    holds: (_verdict, { tool }, tools) => tools.some((called) => toolNameOf(called) === toolNameOf(tool)),
  }),
  decided: define({
    shape: {},
    sentence: () => 'No verdict is undecided.',
    holds: ({ verdict }) => verdict !== 'undecided',
  }),
};
type CheckName = keyof typeof checks;
type CheckSettings = { [K in CheckName]: { check: K } & Values<(typeof checks)[K]['shape']> }[CheckName];

const schemas = Object.entries(checks).map(([check, { shape }]) =>
  z.strictObject({ check: z.literal(check), ...shape }),
);
const CheckInput = z.discriminatedUnion('check', schemas as [(typeof schemas)[0]]) as unknown as z.ZodType<
  CheckSettings,
  CheckSettings
>;

/** A sentence that the judge grades, or a check that code decides. */
export const AcceptanceCriterion = z.union([boundedString({ min: 1, max: 300 }), CheckInput]);
export type AcceptanceCriterion = z.infer<typeof AcceptanceCriterion>;

const criteriaMax = 10;

export const AcceptanceCriteria = z
  .array(AcceptanceCriterion)
  .max(criteriaMax)
  .transform((criteria) => [...new Map(criteria.map((one) => [JSON.stringify(one), one])).values()])
  .describe(
    'What a run judged by a model must fulfill, at most 10: sentences, which a model grades, or checks, which code decides. Each run shows whether it meets them.',
  );

export const AcceptanceGrade = z.object({
  criterion: z.string().describe('The criterion as a sentence.'),
  gradedBy: z.enum(['code', 'judge']),
  isMet: z.boolean(),
  reason: z.string(),
});
export type AcceptanceGrade = z.infer<typeof AcceptanceGrade>;

/** Returns a criterion as a sentence. */
export function describeCriterion(criterion: AcceptanceCriterion): string {
  if (typeof criterion === 'string') return criterion;
  return checkOf(criterion).sentence(criterion);
}

const checkOf = ({ check }: CheckSettings) => checks[check] as unknown as Check<z.ZodRawShape>;

const namedMax = 3;

/** Grades a check by the verdicts of a run, of which there is at least one. */
export function gradeCheck(
  criterion: Exclude<AcceptanceCriterion, string>,
  verdicts: readonly (Verdict & { candidateId?: string })[],
  toolUse: readonly ToolUse[],
): AcceptanceGrade {
  const { holds } = checkOf(criterion);
  const toolsOf = Map.groupBy(toolUse, ({ candidateId }) => candidateId);
  const failing = verdicts.filter(
    (verdict) => !holds(verdict, criterion, toolsOf.get(verdict.candidateId ?? null)?.map(({ tool }) => tool) ?? []),
  );
  const names = failing.slice(0, namedMax).map(({ entity }) => entity);
  const others = failing.length > namedMax ? ` and ${failing.length - namedMax} more` : '';
  return {
    criterion: describeCriterion(criterion),
    gradedBy: 'code',
    isMet: failing.length === 0,
    reason:
      failing.length === 0
        ? `It holds for ${verdicts.length} of ${verdicts.length}.`
        : `It fails for ${failing.length} of ${verdicts.length}: ${names.join(', ')}${others}.`,
  };
}
