import type { IncidentDetail } from './incidents.schema.ts';

type Tactic = { shortName: string; name: string; rank: number };

/** The ATT&CK matrix, which belongs to the feed. */
export type TacticSources = {
  findTechnique: (id: string) => { tactics: string[] } | undefined;
  listTactics: () => Tactic[];
};

type StageHit = { techniques: readonly string[]; from: Date; to: Date };
type Stage = { tactic: Tactic | null; techniques: Set<string>; hits: number; from: Date; to: Date };

/**
 * Returns the stages of hits by ATT&CK tactic, in order of time. A technique of several tactics counts for the first one that does not lie before
 * the tactic of the previous hit, because attacks move forward, and else for its first one.
 */
export function buildStages(hits: readonly StageHit[], sources: TacticSources): IncidentDetail['stages'] {
  const tactics = new Map(sources.listTactics().map((tactic) => [tactic.shortName, tactic]));
  const stages = new Map<string, Stage>();
  let reached = -1;
  for (const { techniques, from, to } of hits.toSorted((a, b) => a.from.getTime() - b.from.getTime())) {
    const options = techniques
      .flatMap((id) => sources.findTechnique(id)?.tactics ?? [])
      .flatMap((name) => tactics.get(name) ?? [])
      .toSorted((a, b) => a.rank - b.rank);
    const tactic = options.find(({ rank }) => rank >= reached) ?? options[0] ?? null;
    if (tactic) reached = tactic.rank;
    const key = tactic?.shortName ?? '';
    const stage = stages.get(key) ?? { tactic, techniques: new Set(), hits: 0, from, to };
    stages.set(key, stage);
    stage.hits += 1;
    if (to > stage.to) stage.to = to;
    for (const technique of techniques) stage.techniques.add(technique);
  }
  return [...stages.values()].map((stage) => ({
    tactic: stage.tactic?.shortName ?? null,
    name: stage.tactic?.name ?? 'No technique',
    techniques: [...stage.techniques].toSorted(),
    hits: stage.hits,
    firstAt: stage.from.toISOString(),
    lastAt: stage.to.toISOString(),
  }));
}
