import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { exceptionPreviewQuery, type ExceptionSubject } from '../../api/detection-parts.ts';
import type { HitDetail } from '../../api/hits.ts';
import { texts as common } from '../../texts/common.ts';
import { texts as page } from '../../texts/hits.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/overlays/dialog.tsx';
import { Field, SelectInput, TextInput } from '../../ui/forms/form.tsx';
import { useCreateException } from '../../ui/tuning/use-create-exception.ts';
import { HiddenHits } from './hidden-hits.tsx';

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

/** Creates an exception from a value of a hit, after showing what it would have hidden. */
export default function ExceptionDialog({ hit, onClose }: { hit: HitDetail; onClose: () => void }) {
  const subjects = listSubjects(hit);
  const [index, setIndex] = useState(0);
  const [onlyEntity, setOnlyEntity] = useState(false);
  const [reason, setReason] = useState('');
  const [days, setDays] = useState('');
  const chosen = subjects[index]!;
  const subject = onlyEntity && chosen.field !== undefined ? { ...chosen, entity: hit.entity } : chosen;
  const preview = useQuery(exceptionPreviewQuery(hit.detectionId, subject));
  const { mutate, isPending } = useCreateException(hit.detectionId, onClose);
  return (
    <Dialog isWide title={texts.title} description={texts.intro(hit.detection.name)} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          mutate({ rule: subject, reason: reason.trim(), days, hitIds: [hit.id] });
        }}
      >
        <SubjectFields
          {...{ subjects, index, onlyEntity }}
          entity={hit.entity}
          onIndex={setIndex}
          onOnlyEntity={setOnlyEntity}
        />
        <HiddenHits query={preview} />
        <div className="grid gap-3 md:grid-cols-[1fr_10rem]">
          <Field label={texts.reason}>
            {(control) => (
              <TextInput
                {...control}
                required
                maxLength={1000}
                value={reason}
                onChange={(event) => setReason(event.target.value)}
              />
            )}
          </Field>
          <Field label={texts.until}>
            {(control) => (
              <SelectInput {...control} value={days} onChange={(event) => setDays(event.target.value)}>
                {Object.entries(texts.periods).map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </SelectInput>
            )}
          </Field>
        </div>
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
