import type { BuiltInWork } from '../agent/built-in-work.ts';
import type { Detection } from '../detections/schema.ts';
import { refine } from '../relevance/refine.ts';
import { research } from '../suggest/research.ts';

/** What each built-in agent does at its slots. One that has no line has no work of its own and is never run. */
export const builtInWork: Partial<Record<Detection['builtInAgentType'], BuiltInWork>> = {
  'threat-relevancy': refine,
  'threat-research': research,
};
