import type { OutputSchema } from './field-schemas.ts';

const evidenceProperties = {
  rowId: { type: 'string' },
  field: { type: 'string' },
  value: { type: 'string' },
  why: { type: 'string' },
};
const properties = {
  entity: { type: 'string' },
  entityType: { type: 'string' },
  triggered: { type: 'boolean' },
  confidence: { type: 'integer', minimum: 0, maximum: 100 },
  severity: { type: 'string', enum: ['none', 'low', 'medium', 'high', 'critical'] },
  headline: { type: 'string' },
  summary: { type: 'string' },
  evidence: {
    type: 'array',
    items: {
      type: 'object',
      properties: evidenceProperties,
      required: Object.keys(evidenceProperties),
      additionalProperties: false,
    },
  },
  nextStep: { type: 'string' },
};

/** The schema of an agent's output if its author set none: one verdict per entity. */
export const verdictSchema: OutputSchema = {
  type: 'object',
  title: 'Verdict',
  description: 'The verdict on one entity, with the fields of its rows that prove it.',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
};
