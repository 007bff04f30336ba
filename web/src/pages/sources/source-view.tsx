import { Link } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { CheckCircle2, CircleDashed, Pause, TriangleAlert, VolumeX } from 'lucide-react';
import { sourceWorthQuery, type Source } from '../../api/sources.ts';
import { toScheduleWords } from '../../lib/schedule-words.ts';
import { texts } from '../../texts/sources.ts';
import { Fact } from '../../ui/evidence/fact-list.tsx';
import { IconLabel, type Look } from '../../ui/labels/icon-label.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/section.tsx';
import { ExactTime, RelativeTime } from '../../ui/time.tsx';

/** More skipped entries than this are not listed. */
const skippedMax = 50;

/** A source with what its last pull brought, and why entries were skipped. */
export function SourceView({ source }: { source: Source }) {
  const { lastResult, lastError } = source;
  const worth = useQuery(sourceWorthQuery).data?.get(source.id);
  const schedule = toScheduleWords(source.schedule);
  // A pull that could not read the source has its reason as the only entry.
  const skipped = lastResult?.skipped.filter(({ reason }) => reason !== lastError) ?? [];
  return (
    <article className="flex flex-col gap-6 px-4 py-5">
      <header className="flex flex-col gap-2">
        <h2 className="text-15 font-strong break-words">{source.name}</h2>
        <p className="flex flex-wrap items-center gap-x-4 text-12 text-muted">
          <SourceHealth source={source} />
          <span>{texts.kinds[source.kind]}</span>
          {source.silentSince && (
            <span>
              {texts.silentSince} <RelativeTime time={source.silentSince} />
            </span>
          )}
        </p>
        {source.failures > 0 && (
          <Notice kind="error" title={texts.failed(source.failures)}>
            {lastError}
          </Notice>
        )}
        {source.sightingsError && (
          <Notice kind="error" title={texts.sightingsFailed}>
            {source.sightingsError}
          </Notice>
        )}
        <Link to="/feed" search={{ source: source.name }} className="self-start text-12 text-accent hover:underline">
          {texts.items}
        </Link>
      </header>
      <dl className="grid grid-cols-[8.5rem_1fr] gap-x-3 gap-y-1.5">
        <Fact name={texts.address}>
          <span className="font-mono text-12 break-all">{source.url}</span>
        </Fact>
        <Fact name={texts.publisher}>{source.publisher}</Fact>
        <Fact name={texts.schedule}>
          {schedule ? (
            <span title={source.schedule}>{schedule}</span>
          ) : (
            <code className="text-12">{source.schedule}</code>
          )}
        </Fact>
        <Fact name={texts.nextPull}>{source.nextPullAt && <ExactTime time={source.nextPullAt} />}</Fact>
        <Fact name={texts.lastPull}>{source.lastPullAt && <ExactTime time={source.lastPullAt} />}</Fact>
        <Fact name={texts.lastSuccess}>{source.lastSuccessAt && <ExactTime time={source.lastSuccessAt} />}</Fact>
        <Fact name={texts.sharing}>{source.tlp ? `TLP:${source.tlp}` : texts.unmarked}</Fact>
        <Fact name={texts.reliability}>
          <span className="tabular">{Math.round(source.reliability * 100)} %</span>
        </Fact>
        <Fact name={texts.sightings}>
          {source.sightings && (
            <span className="font-mono text-12 break-all">{`${source.sightings.url} (TLP:${source.sightings.tlpMax})`}</span>
          )}
        </Fact>
        <Fact name={texts.license}>{source.license}</Fact>
        <Fact name={texts.visibility}>{texts.visible[source.visibility]}</Fact>
      </dl>
      {worth && (
        <Section title={texts.worth}>
          <dl className="grid grid-cols-[16rem_1fr] gap-x-3 gap-y-1.5 tabular max-sm:grid-cols-[1fr_auto]">
            {texts.worthFields(worth).map(([name, value]) => (
              <Fact key={name} name={name}>
                {value}
              </Fact>
            ))}
          </dl>
        </Section>
      )}
      {lastResult && lastError === null && (
        <Section title={texts.result}>
          <p className="tabular">{texts.outcome(lastResult)}</p>
        </Section>
      )}
      {skipped.length > 0 && (
        <Section title={texts.skipped} count={skipped.length}>
          <ul className="flex flex-col text-12">
            {skipped.slice(0, skippedMax).map(({ entry, reason }) => (
              <li key={entry} className="flex flex-col border-b py-1.5 last:border-b-0">
                <span className="font-mono break-all">{entry}</span>
                <span className="text-muted">{reason}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </article>
  );
}

type State = keyof typeof texts.states;

const looks: Record<State, Look> = {
  healthy: { icon: CheckCircle2, color: 'text-good' },
  failing: { icon: TriangleAlert, color: 'text-bad' },
  silent: { icon: VolumeX, color: 'text-high' },
  disabled: { icon: Pause, color: 'text-faint' },
  waiting: { icon: CircleDashed, color: 'text-muted' },
};

function stateOf({ enabled, failures, silentSince, lastPullAt }: Source): State {
  if (!enabled) return 'disabled';
  if (failures > 0) return 'failing';
  if (silentSince !== null) return 'silent';
  return lastPullAt === null ? 'waiting' : 'healthy';
}

/** Shows whether a source delivers. Silent: its pulls work, and nothing new has come for unusually long. */
export function SourceHealth({ source }: { source: Source }) {
  const state = stateOf(source);
  return (
    <IconLabel look={looks[state]} className="whitespace-nowrap">
      {texts.states[state]}
    </IconLabel>
  );
}
