import type { Detection } from '../../../api/detections.ts';

type Criterion = NonNullable<Detection['acceptanceCriteria']>[number];
type Check = Exclude<Criterion, string>;

/** The acceptance criteria as the form edits them: sentences by line, and the checks with their settings, by commas. */
export type Acceptance = {
  sentences: string;
  citesObservation: boolean;
  isDecided: boolean;
  fields: string;
  tools: string[];
};

export const noAcceptance: Acceptance = {
  sentences: '',
  citesObservation: false,
  isDecided: false,
  fields: '',
  tools: [],
};

export function acceptanceOf(criteria: readonly Criterion[]): Acceptance {
  const checks = criteria.filter((one) => typeof one !== 'string');
  return {
    sentences: criteria.filter((one) => typeof one === 'string').join('\n'),
    citesObservation: checks.some(({ check }) => check === 'cites_observation'),
    isDecided: checks.some(({ check }) => check === 'decided'),
    fields: checks.flatMap((one) => (one.check === 'cites_field' ? one.field : [])).join(', '),
    tools: checks.flatMap((one) => (one.check === 'uses_tool' ? one.tool : [])),
  };
}

const split = (text: string, by: string): string[] =>
  text
    .split(by)
    .map((part) => part.trim())
    .filter((part) => part !== '');

export function criteriaOf({ sentences, citesObservation, isDecided, fields, tools }: Acceptance): Criterion[] {
  const checks: Check[] = [
    ...(citesObservation ? [{ check: 'cites_observation' as const }] : []),
    ...(isDecided ? [{ check: 'decided' as const }] : []),
    ...split(fields, ',').map((field) => ({ check: 'cites_field' as const, field })),
    ...tools.map((tool) => ({ check: 'uses_tool' as const, tool })),
  ];
  return [...split(sentences, '\n'), ...checks];
}
