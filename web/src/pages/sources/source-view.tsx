import { Link } from '@tanstack/react-router';
import type { Source } from '../../api/sources.ts';
import { texts } from '../../texts/sources.ts';
import { Section } from '../../ui/section.tsx';
import { ExactTime, RelativeTime } from '../../ui/time.tsx';
import { SourceHealth } from './source-health.tsx';

/** More skipped entries than this are not listed. */
const skippedMax = 50;

/** A source with what its last pull brought, and why entries were skipped. */
export function SourceView({ source }: { source: Source }) {
  const { lastResult, lastError } = source;
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
          <p className="break-words">
            {texts.failed(source.failures)} <span className="text-muted">{lastError}</span>
          </p>
        )}
        {source.publisher && (
          <Link
            to="/feed"
            search={{ source: source.publisher }}
            className="self-start text-12 text-accent hover:underline"
          >
            {texts.items}
          </Link>
        )}
      </header>
      <dl className="grid grid-cols-[8.5rem_1fr] gap-x-3 gap-y-1.5">
        <Field name={texts.address}>
          <span className="font-mono text-12 break-all">{source.url}</span>
        </Field>
        <Field name={texts.publisher}>{source.publisher}</Field>
        <Field name={texts.schedule}>
          <span className="font-mono text-12">{source.schedule}</span>
        </Field>
        <Field name={texts.nextPull}>{source.nextPullAt && <ExactTime time={source.nextPullAt} />}</Field>
        <Field name={texts.lastPull}>{source.lastPullAt && <ExactTime time={source.lastPullAt} />}</Field>
        <Field name={texts.sharing}>{source.tlp && `TLP:${source.tlp}`}</Field>
        <Field name={texts.reliability}>
          <span className="tabular">{Math.round(source.reliability * 100)} %</span>
        </Field>
        <Field name={texts.license}>{source.license}</Field>
        <Field name={texts.visibility}>{texts.visible[source.visibility]}</Field>
      </dl>
      {lastResult && (
        <Section title={texts.result}>
          <p className="tabular">{texts.outcome(lastResult)}</p>
        </Section>
      )}
      {lastResult && lastResult.skipped.length > 0 && (
        <Section title={texts.skipped} count={lastResult.skipped.length}>
          <ul className="flex flex-col text-12">
            {lastResult.skipped.slice(0, skippedMax).map(({ entry, reason }) => (
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
