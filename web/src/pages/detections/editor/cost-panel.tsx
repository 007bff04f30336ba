import { useMutation } from '@tanstack/react-query';
import { estimateDetection, estimateNewDetection, type CostEstimate } from '../../../api/detection-parts.ts';
import { formatMoney, formatNumber } from '../../../lib/text.ts';
import { texts as editor } from '../../../texts/editor.ts';
import { Button } from '../../../ui/button.tsx';
import { Table, type TableColumn } from '../../../ui/lists/table.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/section.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { definitionOf, type Draft } from './draft.ts';

const texts = editor.cost;

type Props = {
  draft: Draft;
  /** The stored detection, if the draft is as it is stored. Its own runs then say what it costs. */
  storedId: string | undefined;
};

/** What the definition will cost per month, by alias, and what that is based on. */
export function CostPanel({ draft, storedId }: Props) {
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => {
      if (storedId !== undefined) return estimateDetection(storedId);
      const definition = definitionOf({ ...draft, name: draft.name.trim() || editor.newTitle });
      return estimateNewDetection({ ...definition, systemPrompt: definition.systemPrompt || texts.title });
    },
  });
  return (
    <Section
      level={2}
      title={texts.title}
      actions={
        <Button disabled={isPending} onClick={() => mutate()}>
          {isPending ? texts.running : texts.run}
        </Button>
      }
    >
      <div aria-live="polite" className="flex flex-col gap-3">
        {isPending ? (
          <Skeleton className="h-16" />
        ) : error ? (
          <Notice kind="error" title={texts.failed}>
            {error.message}
          </Notice>
        ) : data ? (
          <Estimate estimate={data} />
        ) : (
          <p className="text-muted">{texts.hint}</p>
        )}
      </div>
    </Section>
  );
}

type Range = CostEstimate['candidates'];
type Alias = CostEstimate['aliases'][number];

/** Returns a range as its expected value and its bounds. */
const show = ({ low, expected, high }: Range, format: (value: number) => string): string =>
  `${format(expected)} (${texts.between(format(low), format(high))})`;
const showCost = (range: Range | null): string => (range === null ? formatMoney(null) : show(range, formatMoney));

/** A range in two lines, so that three of them have room beside each other. */
function Estimated({ range, format }: { range: Range | null; format: (value: number) => string }) {
  if (range === null) return formatMoney(null);
  const { low, expected, high } = range;
  return (
    <>
      {format(expected)} <span className="text-faint @lg:block">{texts.between(format(low), format(high))}</span>
    </>
  );
}

const columns: TableColumn<Alias>[] = [
  { header: texts.alias, cell: ({ alias }) => alias },
  { header: texts.calls, isFigure: true, cell: ({ calls }) => <Estimated range={calls} format={formatNumber} /> },
  { header: texts.tokens, isFigure: true, cell: ({ tokens }) => <Estimated range={tokens} format={formatNumber} /> },
  { header: texts.cost, isFigure: true, cell: ({ costUsd }) => <Estimated range={costUsd} format={formatMoney} /> },
];

function Estimate({ estimate: { candidates, aliases, costUsd, basis } }: { estimate: CostEstimate }) {
  return (
    <>
      <p>
        {texts.candidates(show(candidates, formatNumber))}{' '}
        {basis.tokens.source === 'analyst' ? texts.free : texts.total(showCost(costUsd))}
      </p>
      {aliases.length > 0 && (
        <Table label={texts.title} columns={columns} rows={aliases} rowKey={({ alias }) => alias} />
      )}
      <p className="max-w-[72ch] text-12 text-muted">
        {texts.countedBy[basis.candidates.source](basis.candidates.days, formatNumber(basis.candidates.candidates))}{' '}
        {texts.measuredBy[basis.tokens.source](formatNumber(basis.tokens.verdicts))}{' '}
        {!basis.candidates.complete && editor.preview.incomplete}
      </p>
    </>
  );
}
