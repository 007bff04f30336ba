import type { BuiltInWork } from './built-in-agent.ts';
import type { Detection } from '../detection/detections/record/detection.schema.ts';
import { refine } from './threat-relevancy/refine-relevance.ts';
import { research } from './threat-research/research.ts';

/** What each built-in agent does at its slots. One that has no line has no work of its own and is never run. */
export const builtInWork: Partial<Record<Detection['builtInAgentType'], BuiltInWork>> = {
  'threat-relevancy': refine,
  'threat-research': research,
};
