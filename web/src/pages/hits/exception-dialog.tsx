import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { exceptionPreviewQuery, type ExceptionSubject, type ExceptionPreview } from '../../api/detection-parts.ts';
import type { HitDetail, HitStatus } from '../../api/hits.ts';
import { texts as common } from '../../texts/common.ts';
import { texts as page } from '../../texts/hits.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/overlays/dialog.tsx';
import { Field, SelectInput } from '../../ui/forms/form.tsx';
import { ExceptionTerms, useCreateException, type Terms } from '../../ui/tuning/create-exception.tsx';
import { countOf } from '../../lib/text.ts';
import { Notice } from '../../ui/notice.tsx';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { StatusLabel } from './statuses.tsx';
import { RestoredDraft, useDraft } from '../../ui/forms/use-draft.tsx';

const texts = page.exception;

/** Values that every row of the hit has, those that the verdict cites first, and the entity. */
function listSubjects({ entity, evidence, rows }: HitDetail): ExceptionSubject[] {
  const cited = [...new Set(evidence.map(({ field }) => field))];
  const fields = [...new Set([...cited, ...Object.keys(rows[0]?.fields ?? {})])];
  const shared = fields.flatMap((field) => {
    const value = rows[0]?.fields[field];
    const isShared = value !== undefined && value !== '' && rows.every((row) => row.fields[field] === value);
    return isShared && value.length <= 4000 ? [{ field, value }] : [];
  });
  return [...shared, { entity }].slice(0, 40);
}

const labelOf = ({ entity, field, value }: ExceptionSubject): string =>
  field === undefined ? texts.entity(entity!) : `${field} = ${value}`;

type Props = {
  hit: HitDetail;
  /** The field whose value is chosen first, if it can be. */
  field: string;
  onClose: () => void;
};

/** Creates an exception from a value of a hit, after showing what it would have hidden. */
export default function ExceptionDialog({ hit, field, onClose }: Props) {
  const subjects = listSubjects(hit);
  const [index, setIndex] = useState(() =>
    Math.max(
      0,
      subjects.findIndex((one) => one.field === field),
    ),
  );
  const [onlyEntity, setOnlyEntity] = useState(false);
  const [terms, setTerms, draft] = useDraft<Terms>(`exception ${hit.id}`, { reason: '', days: '' });
  const chosen = subjects[index]!;
  const subject = onlyEntity && chosen.field !== undefined ? { ...chosen, entity: hit.entity } : chosen;
  const preview = useQuery(exceptionPreviewQuery(hit.detectionId, subject));
  const { mutate, isPending } = useCreateException(hit.detectionId, draft, onClose);
  return (
    <Dialog isWide title={texts.title} description={texts.intro(hit.detection.name)} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          mutate({ rule: subject, reason: terms.reason.trim(), days: terms.days, hitIds: [hit.id] });
        }}
      >
        <SubjectFields
          {...{ subjects, index, onlyEntity }}
          entity={hit.entity}
          onIndex={setIndex}
          onOnlyEntity={setOnlyEntity}
        />
        <HiddenHits query={preview} />
        <ExceptionTerms values={terms} onChange={setTerms} />
        <RestoredDraft draft={draft} />
        <DialogActions>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" type="submit" disabled={isPending}>
            {texts.create}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

type SubjectProps = {
  subjects: readonly ExceptionSubject[];
  index: number;
  entity: string;
  onlyEntity: boolean;
  onIndex: (index: number) => void;
  onOnlyEntity: (onlyEntity: boolean) => void;
};

function SubjectFields({ subjects, index, entity, onlyEntity, onIndex, onOnlyEntity }: SubjectProps) {
  return (
    <div className="flex flex-col gap-1.5">
      <Field label={texts.subject}>
        {(control) => (
          <SelectInput
            {...control}
            className="h-8 w-full font-mono text-12"
            value={index}
            onChange={(event) => onIndex(Number(event.target.value))}
          >
            {subjects.map((option, at) => (
              <option key={labelOf(option)} value={at}>
                {labelOf(option).slice(0, 200)}
              </option>
            ))}
          </SelectInput>
        )}
      </Field>
      {subjects[index]!.field !== undefined && (
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            className="accent-accent"
            checked={onlyEntity}
            onChange={({ target }) => onOnlyEntity(target.checked)}
          />
          <span className="min-w-0 break-all">{texts.onlyEntity(entity)}</span>
        </label>
      )}
    </div>
  );
}

const shownMax = 6;

/** The hits of the last 30 days that an exception would have hidden. */
function HiddenHits({ query: { data, error } }: { query: UseQueryResult<ExceptionPreview> }) {
  if (error)
    return (
      <Notice kind="error" title={texts.previewFailed}>
        {error.message}
      </Notice>
    );
  if (!data) return <Skeleton className="h-32" />;
  const { hidden, examined, hiddenByStatus, hits } = data;
  const statuses = Object.entries(hiddenByStatus) as [HitStatus, number][];
  const wrong = hiddenByStatus.true_positive ?? 0;
  return (
    <section aria-live="polite" className="flex flex-col gap-2 rounded-control border p-3">
      <p className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <span className="font-strong">{texts.hidden(hidden, countOf(examined, 'hit'))}</span>
        {statuses.map(([status, count]) => (
          <span key={status} className="tabular inline-flex items-center gap-1 text-12 text-muted">
            {count} <StatusLabel status={status} />
          </span>
        ))}
      </p>
      {wrong > 0 && <Notice kind="warning" title={texts.hidesTrue(wrong)} />}
      <ul className="flex flex-col">
        {hits.slice(0, shownMax).map(({ id, headline, severity, createdAt }) => (
          <li key={id} className="flex h-6 items-center gap-2 text-12">
            <SeverityMark severity={severity} />
            <span className="min-w-0 grow truncate">{headline}</span>
            <span className="text-muted">
              <RelativeTime time={createdAt} />
            </span>
          </li>
        ))}
      </ul>
      {hidden > shownMax && <p className="text-12 text-muted">{texts.others(hidden - shownMax)}</p>}
    </section>
  );
}
