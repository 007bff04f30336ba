import { useQueryClient } from '@tanstack/react-query';
import {
  createException,
  endException,
  type ExceptionInput,
  type ExceptionSubject,
} from '../../api/detection-parts.ts';
import { texts as common } from '../../texts/common.ts';
import { texts as proof } from '../../texts/proof.ts';
import { useChange } from '../forms/use-change.ts';
import { toasts } from '../overlays/toasts.tsx';
import { listConditionTexts } from './exception-rule.tsx';

const texts = proof.exceptions;

/** `days` is empty for an exception without an end. */
type NewException = { rule: ExceptionSubject; days: string } & Pick<ExceptionInput, 'reason' | 'owner' | 'hitIds'>;

/** Creates an exception, and offers to undo that. */
export function useCreateException(detectionId: string, onCreated: () => void) {
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
    failed: texts.failed,
  });
}
