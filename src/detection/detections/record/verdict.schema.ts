import type { OutputSchema } from './field-schemas.ts';

const evidenceProperties = {
  rowId: { type: 'string' },
  field: { type: 'string' },
  value: { type: 'string' },
  why: { type: 'string' },
};
// A model writes the properties in this order. It reasons and cites before it concludes, and numbers come last.
const properties = {
  reasoning: { type: 'string', description: 'What the rows show and what they leave open, step by step.' },
  entity: { type: 'string' },
  entityType: { type: 'string' },
  evidence: {
    type: 'array',
    items: {
      type: 'object',
      properties: evidenceProperties,
      required: Object.keys(evidenceProperties),
      additionalProperties: false,
    },
  },
  summary: { type: 'string' },
  headline: { type: 'string' },
  nextStep: { type: 'string' },
  triggered: { type: 'boolean' },
  severity: { type: 'string', enum: ['none', 'low', 'medium', 'high', 'critical'] },
  confidence: { type: 'integer', minimum: 0, maximum: 100 },
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
