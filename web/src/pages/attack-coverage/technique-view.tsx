import { Link } from '@tanstack/react-router';
import { rehearse, type Coverage, type CoveredTechnique } from '../../api/coverage.ts';
import { toWords } from '../../lib/text.ts';
import { texts } from '../../texts/coverage.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { Rehearsed } from '../../ui/evidence/rehearsed.tsx';
import { Section } from '../../ui/section.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { percentOf } from './techniques.ts';

type Props = { coverage: Coverage; technique: CoveredTechnique; onOpen: (id: string) => void };

/** A technique: which detections watch it and how far they can be relied on, who threatens, and what could close the gap. */
export function TechniqueView({ coverage, technique, onOpen }: Props) {
  const { id, name, tactics, groupScore, threats, suggestionIds } = technique;
  const tacticNames = coverage.tactics
    .filter(({ shortName }) => tactics.includes(shortName))
    .map((tactic) => tactic.name);
  const subs = coverage.techniques.filter(({ parentId }) => parentId === id);
  return (
    <article className="flex flex-col gap-6 px-4 py-5">
      <header className="flex flex-col gap-2">
        <h2 className="text-15 font-strong">
          {name} <span className="font-mono text-13 font-normal text-muted">{id}</span>
        </h2>
        <p className="flex flex-wrap gap-x-4 text-12 text-muted">
          <span>{tacticNames.join(', ')}</span>
          <span className="tabular text-ink">
            {texts.coverage} {percentOf(groupScore)} %
          </span>
        </p>
      </header>
      <Section title={texts.threats} count={threats?.items}>
        {threats ? (
          <>
            <Link
              to="/feed/$id"
              params={{ id: threats.latest.id }}
              className="-mx-2 flex min-h-8 items-center gap-3 rounded-control px-2 hover:bg-hover"
            >
              <span className="min-w-0 grow truncate">{threats.latest.title}</span>
              <span className="text-12 text-muted">
                <RelativeTime time={threats.latest.addedToFeedAt} />
              </span>
            </Link>
            <Link
              to="/feed"
              search={{ technique: id, relevancyMode: 'relevant' }}
              className="text-12 text-accent hover:underline"
            >
              {texts.allThreats(threats.items)}
            </Link>
          </>
        ) : (
          <p className="text-muted">{texts.noThreats}</p>
        )}
      </Section>
      <Rehearsal techniques={[technique, ...subs]} />
      <Detections techniques={[technique, ...subs]} />
      {suggestionIds.length > 0 && (
        <Section title={texts.suggestions} count={suggestionIds.length}>
          <Link
            to="/suggestions"
            search={{ suggestion: suggestionIds[0] }}
            className="text-12 text-accent hover:underline"
          >
            {texts.openSuggestion}
          </Link>
        </Section>
      )}
      {subs.length > 0 && (
        <Section title={texts.subTechniques} count={subs.length}>
          <ul className="-mx-2 flex flex-col">
            {subs.map((sub) => (
              <li key={sub.id}>
                <button
                  type="button"
                  onClick={() => onOpen(sub.id)}
                  className="flex min-h-8 w-full items-center gap-3 rounded-control px-2 text-left hover:bg-hover"
                >
                  <span className="w-20 shrink-0 font-mono text-12 text-muted">{sub.id}</span>
                  <span className="min-w-0 grow truncate">{sub.name}</span>
                  {sub.threats && <span className="tabular text-12 text-high">{sub.threats.items}</span>}
                  <span className="tabular w-10 text-right text-12 text-muted">{percentOf(sub.score)} %</span>
                </button>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </article>
  );
}

/** What the rehearsals of a technique and its sub-techniques showed. */
function Rehearsal({ techniques }: { techniques: [CoveredTechnique, ...CoveredTechnique[]] }) {
  const { mutate, isPending } = useChange({
    change: (technique: string) => rehearse({ technique }),
    refresh: [['coverage']],
    done: ({ rehearsals, complete }) => (complete ? texts.rehearsedDone(rehearsals.length) : texts.rehearsalIncomplete),
    failed: texts.rehearseFailed,
  });
  const rehearsed = techniques.filter((technique) => technique.rehearsed !== null);
  return (
    <Section title={texts.rehearsal}>
      {rehearsed.length === 0 && <p className="text-muted">{texts.notRehearsed}</p>}
      {rehearsed.map(({ id, rehearsed: result }) => result && <Rehearsed key={id} name={id} result={result} />)}
      <Button className="self-start" disabled={isPending} onClick={() => mutate(techniques[0].id)}>
        {texts.rehearse}
      </Button>
    </Section>
  );
}

/** The detections of a technique and its sub-techniques, the heaviest first. */
function Detections({ techniques }: { techniques: CoveredTechnique[] }) {
  const all = techniques.flatMap(({ id, detections }) =>
    detections.map((detection) => ({ ...detection, techniqueId: id })),
  );
  const detections = [...new Map(all.map((detection) => [detection.id, detection])).values()].toSorted(
    (a, b) => b.weight - a.weight,
  );
  return (
    <Section title={texts.detections} count={detections.length || undefined}>
      {detections.length === 0 ? (
        <div className="flex flex-wrap items-center gap-3">
          <p className="text-muted">{texts.noDetections}</p>
          <Link
            to="/detections/new"
            search={{ intent: texts.intent(techniques[0]!) }}
            className={buttonClass('secondary')}
          >
            {texts.describe}
          </Link>
        </div>
      ) : (
        <ul className="flex flex-col">
          {detections.map(({ id, name, health, weight, reasons, techniqueId }) => (
            <li key={id} className="flex flex-col border-b py-1.5 last:border-b-0">
              <span className="flex items-center gap-3">
                <Link to="/detections/$id" params={{ id }} className="min-w-0 grow truncate hover:underline">
                  {name}
                </Link>
                <span className="font-mono text-12 text-muted">{techniqueId}</span>
                <span className="tabular w-10 text-right text-12">{percentOf(weight)} %</span>
              </span>
              <span className="text-12 text-muted">{[toWords(health), ...reasons].join(' · ')}</span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
