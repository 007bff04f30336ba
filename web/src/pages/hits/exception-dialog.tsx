import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  createException,
  endException,
  exceptionPreviewQuery,
  type ExceptionSubject,
} from '../../api/detection-parts.ts';
import type { HitDetail } from '../../api/hits.ts';
import { texts as common } from '../../texts/common.ts';
import { texts as page } from '../../texts/hits.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/overlays/dialog.tsx';
import { Field, SelectInput, TextInput } from '../../ui/forms/form.tsx';
import { toasts } from '../../ui/overlays/toasts.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
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
  const client = useQueryClient();
  const subjects = listSubjects(hit);
  const [index, setIndex] = useState(0);
  const [onlyEntity, setOnlyEntity] = useState(false);
  const [reason, setReason] = useState('');
  const [days, setDays] = useState('');
  const chosen = subjects[index]!;
  const subject = onlyEntity && chosen.field !== undefined ? { ...chosen, entity: hit.entity } : chosen;
  const preview = useQuery(exceptionPreviewQuery(hit.detectionId, subject));
  const { mutate, isPending } = useChange({
    change: () => {
      const expires = days === '' ? {} : { expiresAt: new Date(Date.now() + Number(days) * 86_400_000).toISOString() };
      return createException(hit.detectionId, { ...subject, reason: reason.trim(), ...expires });
    },
    refresh: [['detections', 'exceptions', hit.detectionId]],
    done: ({ id }) => {
      onClose();
      const undo = (): void =>
        void endException(hit.detectionId, id).then(
          () => {
            toasts.add({ title: texts.ended });
            return client.invalidateQueries({ queryKey: ['detections', 'exceptions', hit.detectionId] });
          },
          ({ message }: Error) => toasts.add({ title: texts.failed, description: message, isError: true }),
        );
      return { title: texts.created, description: labelOf(subject), action: { label: common.undo, run: undo } };
    },
    failed: texts.failed,
  });
  return (
    <Dialog isWide title={texts.title} description={texts.intro(hit.detection.name)} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <div className="flex flex-col gap-1.5">
          <Field label={texts.subject}>
            {(control) => (
              <SelectInput
                {...control}
                className="h-8 w-full font-mono text-12"
                value={index}
                onChange={(event) => setIndex(Number(event.target.value))}
              >
                {subjects.map((option, at) => (
                  <option key={labelOf(option)} value={at}>
                    {labelOf(option).slice(0, 200)}
                  </option>
                ))}
              </SelectInput>
            )}
          </Field>
          {chosen.field !== undefined && (
            <label className="flex items-center gap-2">
              <input
                type="checkbox"
                className="accent-accent"
                checked={onlyEntity}
                onChange={({ target }) => setOnlyEntity(target.checked)}
              />
              <span className="min-w-0 break-all">{texts.onlyEntity(hit.entity)}</span>
            </label>
          )}
        </div>
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
