import { Link } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { sourceWorthQuery, type Source } from '../../api/sources.ts';
import { toScheduleWords } from '../../lib/schedule-words.ts';
import { texts } from '../../texts/sources.ts';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/section.tsx';
import { ExactTime, RelativeTime } from '../../ui/time.tsx';
import { SourceHealth } from './source-health.tsx';

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
        <Link to="/feed" search={{ source: source.name }} className="self-start text-12 text-accent hover:underline">
          {texts.items}
        </Link>
      </header>
      <dl className="grid grid-cols-[8.5rem_1fr] gap-x-3 gap-y-1.5">
        <Field name={texts.address}>
          <span className="font-mono text-12 break-all">{source.url}</span>
        </Field>
        <Field name={texts.publisher}>{source.publisher}</Field>
        <Field name={texts.schedule}>
          {schedule ? (
            <span title={source.schedule}>{schedule}</span>
          ) : (
            <code className="text-12">{source.schedule}</code>
          )}
        </Field>
        <Field name={texts.nextPull}>{source.nextPullAt && <ExactTime time={source.nextPullAt} />}</Field>
        <Field name={texts.lastPull}>{source.lastPullAt && <ExactTime time={source.lastPullAt} />}</Field>
        <Field name={texts.lastSuccess}>{source.lastSuccessAt && <ExactTime time={source.lastSuccessAt} />}</Field>
        <Field name={texts.sharing}>{source.tlp ? `TLP:${source.tlp}` : texts.unmarked}</Field>
        <Field name={texts.reliability}>
          <span className="tabular">{Math.round(source.reliability * 100)} %</span>
        </Field>
        <Field name={texts.license}>{source.license}</Field>
        <Field name={texts.visibility}>{texts.visible[source.visibility]}</Field>
      </dl>
      {worth && (
        <Section title={texts.worth}>
          <dl className="grid grid-cols-[16rem_1fr] gap-x-3 gap-y-1.5 tabular max-sm:grid-cols-[1fr_auto]">
            {texts.worthFields(worth).map(([name, value]) => (
              <Field key={name} name={name}>
                {value}
              </Field>
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

function Field({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children || <span className="text-faint">–</span>}</dd>
    </>
  );
}
