import { Check, TriangleAlert } from 'lucide-react';
import type { SourceTest } from '../../api/sources.ts';
import { texts } from '../../texts/sources.ts';
import { RelativeTime } from '../../ui/time.tsx';

type Props = { test: SourceTest | undefined; error: Error | null };

/** Shows the result of testing a source: the number of items and the first ones, or why the source cannot be read. */
export function TestResult({ test, error }: Props) {
  const failure = error?.message ?? test?.error;
  return (
    <div role="status" className="text-12 empty:hidden">
      {failure !== undefined ? (
        <div className="flex gap-2 rounded-control border border-bad px-3 py-2">
          <TriangleAlert className="mt-px size-3.5 shrink-0 text-bad" aria-hidden />
          <p className="min-w-0 break-words">
            <span className="font-strong">{texts.testFailed}</span> <span className="text-muted">{failure}</span>
          </p>
        </div>
      ) : test ? (
        <div className="flex flex-col gap-2 rounded-control border px-3 py-2">
          <p className="flex items-center gap-2 tabular font-strong">
            <Check className="size-3.5 shrink-0 text-good" aria-hidden />
            {test.items === 0 ? texts.testedNothing : texts.tested(test)}
          </p>
          {test.samples.length > 0 && (
            <ul className="flex flex-col gap-1">
              {test.samples.map(({ title, publishTime }, index) => (
                <li key={index} className="flex gap-3">
                  <span className="min-w-0 grow truncate">{title || texts.untitled}</span>
                  {publishTime && (
                    <span className="shrink-0 text-muted">
                      <RelativeTime time={publishTime} />
                    </span>
                  )}
                </li>
              ))}
            </ul>
          )}
          {test.skipped.length > 0 && (
            <details>
              <summary className="w-fit cursor-default text-muted hover:text-ink">
                {texts.testSkipped(test.skipped.length)}
              </summary>
              <ul className="flex flex-col gap-1 pt-1">
                {test.skipped.map(({ entry, reason }, index) => (
                  <li key={index} className="break-words">
                    <span className="font-mono break-all">{entry}</span> <span className="text-muted">{reason}</span>
                  </li>
                ))}
              </ul>
            </details>
          )}
        </div>
      ) : null}
    </div>
  );
}
