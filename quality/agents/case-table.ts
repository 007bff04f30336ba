import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const companies = ['north', 'halden', 'recordings'] as const;
export type CompanyName = (typeof companies)[number];
export const caseKinds = ['attack', 'look-alike', 'missing', 'planted'] as const;
export type CaseKind = (typeof caseKinds)[number];
const places = ['row', 'feed', 'mcp', 'http', 'note', 'document'] as const;

const Case = z.strictObject({
  entity: z.coerce.string(),
  from: z.iso.datetime(),
  hours: z.number().default(1),
  place: z.enum(places).optional(),
  text: z.number().optional(),
  why: z.string(),
});
const CaseFile = z.partialRecord(
  z.enum(caseKinds),
  z.partialRecord(z.enum(companies), z.record(z.string(), z.array(Case))),
);

/** A recorded investigation: what a detection finds for an entity in a span. `place` and `text` say which text of the project is planted where. */
export type AgentCase = z.infer<typeof Case> & {
  id: string;
  kind: CaseKind;
  company: CompanyName;
  detection: string;
  to: string;
};

const Detections = z.array(
  z.strictObject({
    id: z.string(),
    company: z.enum(companies),
    entityField: z.string().optional(),
    query: z.string().optional(),
    library: z.string().optional(),
    documents: z.array(z.strictObject({ name: z.string(), content: z.string() })).default([]),
    plantsDocument: z.boolean().default(false),
    history: z
      .array(z.strictObject({ from: z.iso.datetime(), hours: z.number(), times: z.number().default(1) }))
      .default([]),
  }),
);
export type CaseDetection = z.infer<typeof Detections>[number];

const Knowledge = z.array(
  z.strictObject({
    company: z.enum(companies),
    notes: z.record(z.string(), z.string()).default({}),
    lists: z.record(z.string(), z.array(z.string())).default({}),
    records: z.record(z.string(), z.array(z.record(z.string(), z.string()))).default({}),
    judged: z.record(z.string(), z.record(z.string(), z.string())).default({}),
  }),
);
export type CompanyKnowledge = z.infer<typeof Knowledge>[number];

const readYaml = (name: string): unknown => parse(readFileSync(resolve(import.meta.dirname, name), 'utf8'));

export const readCaseDetections = (): CaseDetection[] => Detections.parse(readYaml('detections.yaml'));
export const readKnowledge = (): CompanyKnowledge[] => Knowledge.parse(readYaml('knowledge.yaml'));

/** Reads the cases in the order of the file. */
export function readCases(): AgentCase[] {
  const file = CaseFile.parse(readYaml('cases.yaml'));
  return caseKinds.flatMap((kind) =>
    companies.flatMap((company) =>
      Object.entries(file[kind]?.[company] ?? {}).flatMap(([detection, cases]) =>
        cases.map((one): AgentCase => {
          const to = new Date(Date.parse(one.from) + one.hours * 3_600_000).toISOString();
          return { ...one, id: `${company}/${detection}/${one.entity}/${one.from}`, kind, company, detection, to };
        }),
      ),
    ),
  );
}

/** Cases of these kinds are attacks, which must not end dismissed. */
export const isAttack = ({ kind }: Pick<AgentCase, 'kind'>): boolean => kind === 'attack' || kind === 'planted';
