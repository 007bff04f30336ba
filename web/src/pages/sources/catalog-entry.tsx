import { useMutation } from '@tanstack/react-query';
import { testSource, type CatalogSource } from '../../api/sources.ts';
import { texts } from '../../texts/sources.ts';
import { Button } from '../../ui/button.tsx';
import { TestResult } from './test-result.tsx';

type Props = { entry: CatalogSource; isPresent: boolean; isPending: boolean; onAdd: () => void };

/** A source of the catalog, which can be tested and added. */
export function CatalogEntry({ entry, isPresent, isPending, onAdd }: Props) {
  const { name, title, publisher, kind, brings, license } = entry;
  const test = useMutation({ mutationFn: () => testSource({ catalogue: name }) });
  return (
    <li className="flex flex-col gap-1 border-b py-1 last:border-b-0">
      <div className="flex min-h-9 items-center gap-2">
        <span className="min-w-0 grow">
          <span className="block truncate">{title}</span>
          <span className="block truncate text-12 text-muted">
            {publisher} · {texts.kinds[kind]}
            {license && ` · ${license}`}
          </span>
          <span className="block text-12 text-muted">{brings}</span>
        </span>
        <Button
          kind="quiet"
          disabled={test.isPending}
          aria-label={`${texts.test}: ${title}, ${publisher}`}
          onClick={() => test.mutate()}
        >
          {test.isPending ? texts.testing : texts.test}
        </Button>
        {isPresent ? (
          <span className="text-12 text-muted">{texts.added}</span>
        ) : (
          <Button disabled={isPending} aria-label={`${texts.addOne}: ${title}, ${publisher}`} onClick={onAdd}>
            {texts.addOne}
          </Button>
        )}
      </div>
      <TestResult test={test.data} error={test.error} />
    </li>
  );
}
