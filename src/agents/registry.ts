import type { Detection } from '../detection/detections/record/detection.schema.ts';
import type { AgentWork } from './built-in-agent.ts';
import { refineRelevance, type RefineRelevanceDeps } from './threat-relevancy/refine-relevance.ts';
import { researchThreats, type ResearchDeps } from './threat-research/research-threats.ts';

export type AgentWorkDeps = RefineRelevanceDeps & ResearchDeps;

/** The work of each built-in agent at its slots. An agent that is not listed never runs. */
export const agentWorkByType: Partial<Record<Detection['builtInAgentType'], AgentWork<AgentWorkDeps>>> = {
  'threat-relevancy': refineRelevance,
  'threat-research': researchThreats,
};
