import { useQueryClient } from '@tanstack/react-query';
import {
  createException,
  endException,
  type ExceptionInput,
  type ExceptionSubject,
} from '../../api/detection-parts.ts';
import { classes } from '../../lib/text.ts';
import { texts as common } from '../../texts/common.ts';
import { texts as proof } from '../../texts/proof.ts';
import { Field, SelectInput, TextInput } from '../forms/form.tsx';
import { useChange } from '../forms/use-change.ts';
import type { Draft } from '../forms/use-draft.tsx';
import { toasts } from '../overlays/toasts.tsx';
import { listConditionTexts } from './exception-rule.tsx';

const texts = proof.exceptions;
const terms = proof.similar;

/** `days` is empty for an exception without an end. */
type NewException = { rule: ExceptionSubject; days: string } & Pick<ExceptionInput, 'reason' | 'owner' | 'hitIds'>;

/** Creates an exception, and offers to undo that. */
export function useCreateException(detectionId: string, draft: Draft, onCreated: () => void) {
  const client = useQueryClient();
  return useChange({
    change: ({ rule, days, ...rest }: NewException) => {
      const expires = days === '' ? {} : { expiresAt: new Date(Date.now() + Number(days) * 86_400_000).toISOString() };
      return createException(detectionId, { ...rule, ...rest, ...expires });
    },
    refresh: [
      ['detections', 'exceptions', detectionId],
      ['detections', 'exception-proposals', detectionId],
    ],
    done: ({ id }, { rule }) => {
      onCreated();
      const undo = (): void =>
        void endException(detectionId, id).then(
          () => {
            toasts.add({ title: texts.ended });
            return client.invalidateQueries({ queryKey: ['detections', 'exceptions', detectionId] });
          },
          ({ message }: Error) => toasts.add({ title: texts.failed, description: message, isError: true }),
        );
      return {
        title: texts.created,
        description: listConditionTexts(rule).join(` ${texts.and} `),
        action: { label: common.undo, run: undo },
      };
    },
    draft,
    failed: texts.failed,
  });
}

export type Terms = { reason: string; days: string; owner?: string | undefined };
export type TermsProps = { values: Terms; onChange: (values: Terms) => void };

/** Why an exception exists, for how long, and whose it is, if that is asked. */
export function ExceptionTerms({ values, onChange }: TermsProps) {
  const { reason, days, owner } = values;
  return (
    <div
      className={classes(
        'grid gap-3',
        owner === undefined ? 'md:grid-cols-[1fr_10rem]' : 'md:grid-cols-[1fr_10rem_8rem]',
      )}
    >
      <Field label={terms.reason}>
        {(control) => (
          <TextInput
            {...control}
            required
            value={reason}
            onChange={({ target }) => onChange({ ...values, reason: target.value })}
          />
        )}
      </Field>
      {owner !== undefined && (
        <Field label={terms.owner}>
          {(control) => (
            <TextInput
              {...control}
              value={owner}
              onChange={({ target }) => onChange({ ...values, owner: target.value })}
            />
          )}
        </Field>
      )}
      <Field label={terms.until}>
        {(control) => (
          <SelectInput {...control} value={days} onChange={({ target }) => onChange({ ...values, days: target.value })}>
            {Object.entries(terms.periods).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </SelectInput>
        )}
      </Field>
    </div>
  );
}
