import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { RuleChange, RuleUpdate } from '../../../api/rule-sources.ts';
import { formatNumber, countOf } from '../../../lib/text.ts';
import { texts } from '../../../texts/rule-sources.ts';
import { SeverityMark, type Severity } from '../../../ui/labels/severity.tsx';
import { ShowMore } from '../../../ui/lists/show-more.tsx';
import { Table, type TableColumn } from '../../../ui/lists/table.tsx';
import { Section } from '../../../ui/section.tsx';

const shownFirst = 20;
const shownMore = 200;

const toSeverity = (level: RuleChange['level']): Severity => (level === 'informational' ? 'none' : level);

const columns: TableColumn<RuleChange>[] = [
  {
    header: texts.rule,
    cell: ({ level, name, detectionId }) => (
      <span className="flex gap-2">
        <span className="flex h-4.5 items-center">
          <SeverityMark severity={toSeverity(level)} />
        </span>
        <RuleName name={name} detectionId={detectionId} />
      </span>
    ),
  },
  { header: texts.dataset, cell: ({ dataset }) => <span className="text-muted">{dataset ?? '–'}</span> },
  {
    header: texts.matches,
    isFigure: true,
    cell: ({ matches24h }) =>
      matches24h === null ? <span className="text-faint">{texts.unknownMatches}</span> : formatNumber(matches24h),
  },
];

const RuleName = ({ name, detectionId }: Pick<RuleChange, 'name' | 'detectionId'>) =>
  detectionId === null ? (
    <span className="min-w-0 wrap-anywhere">{name}</span>
  ) : (
    <Link to="/detections/$id" params={{ id: detectionId }} className="min-w-0 wrap-anywhere hover:underline">
      {name}
    </Link>
  );

/** Rules that an import brings or changes, those with the most matches first. */
export function ChangedRules({ title, rules }: { title: string; rules: readonly RuleChange[] }) {
  const [shown, setShown] = useState(shownFirst);
  if (rules.length === 0) return null;
  return (
    <Section title={title} count={rules.length}>
      <Table label={title} columns={columns} rows={rules.slice(0, shown)} rowKey={({ ruleId }) => ruleId} />
      {rules.length > shown && (
        <ShowMore onClick={() => setShown(shown + shownMore)}>
          {texts.more(Math.min(shownMore, rules.length - shown))}
        </ShowMore>
      )}
    </Section>
  );
}

/** Detections whose rules the version does not have. */
export function RemovedRules({ rules }: { rules: RuleUpdate['removed'] }) {
  const [shown, setShown] = useState(shownFirst);
  if (rules.length === 0) return null;
  return (
    <Section title={texts.groups.removed} count={rules.length}>
      <ul className="flex flex-col gap-1 text-12">
        {rules.slice(0, shown).map(({ ruleId, name, detectionId }) => (
          <li key={ruleId}>
            <RuleName name={name} detectionId={detectionId} />
          </li>
        ))}
      </ul>
      {rules.length > shown && (
        <ShowMore onClick={() => setShown(shown + shownMore)}>
          {texts.more(Math.min(shownMore, rules.length - shown))}
        </ShowMore>
      )}
    </Section>
  );
}

const logColumns: TableColumn<RuleUpdate['leftOut']['missingLogs'][number]>[] = [
  { header: texts.logSource, cell: ({ logSource }) => <span className="font-mono wrap-anywhere">{logSource}</span> },
  { header: texts.rules, isFigure: true, cell: ({ rules }) => formatNumber(rules) },
];

/** Why rules of the set are not imported, and the logs that would add the most. */
export function LeftOut({ leftOut }: Pick<RuleUpdate, 'leftOut'>) {
  const reasons = (['withoutLogs', 'byLevel', 'byStatus', 'notConverted'] as const).filter(
    (reason) => leftOut[reason] > 0,
  );
  if (reasons.length === 0) return null;
  return (
    <Section title={texts.leftOut}>
      <ul className="tabular flex flex-col gap-0.5">
        {reasons.map((reason) => (
          <li key={reason}>{texts.reasons[reason](countOf(leftOut[reason], 'rule'))}</li>
        ))}
      </ul>
      {leftOut.missingLogs.length > 0 && (
        <details>
          <summary className="w-fit cursor-default text-muted hover:text-ink">{texts.missingLogs}</summary>
          <div className="pt-2">
            <Table
              label={texts.missingLogs}
              columns={logColumns}
              rows={leftOut.missingLogs}
              rowKey={({ logSource }) => logSource}
            />
          </div>
        </details>
      )}
    </Section>
  );
}
