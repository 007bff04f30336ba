import { useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useState } from 'react';
import {
  acceptSuggestion,
  dismissSuggestion,
  restoreSuggestion,
  type DismissReason,
  type Suggestion,
  type SuggestionChange,
} from '../../api/suggestions.ts';
import { useHotkeys } from '../../lib/hotkeys.ts';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/suggestions.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Key } from '../../ui/key.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { DismissForm } from './dismiss-form.tsx';
import { DraftForm } from './draft-form.tsx';
import { ExpectedNoise } from './expected-noise.tsx';
import { SourcePassages } from './source-passages.tsx';

type Props = { suggestion: Suggestion; onDecided: () => void; onClose: () => void };

const stale = [['suggestions', 'open'], ['suggestions', 'dismissed'], ['detections']];

/** One suggestion: why, from which sentence, as which query, and with how much noise. The decisions stand on top. */
export function SuggestionPanel({ suggestion, onDecided, onClose }: Props) {
  const { id, name, technique, rationale, deletedAt, dismissReason, dismissNote } = suggestion;
  const navigate = useNavigate();
  const [change, setChange] = useState<SuggestionChange>({});
  const [isDismissing, setIsDismissing] = useState(false);
  const isChanged = Object.keys(change).length > 0;
  const restore = useChange({
    change: () => restoreSuggestion(id),
    refresh: stale,
    done: () => texts.restored(name),
    failed: texts.restoreFailed,
  });
  const accept = useChange({
    change: () => acceptSuggestion(suggestion, change),
    refresh: stale,
    done: (detection) => {
      onDecided();
      const open = () => void navigate({ to: '/detections/$id', params: { id: detection.id } });
      return { title: texts.accepted(detection.name), action: { label: texts.openDetection, run: open } };
    },
    failed: texts.acceptFailed,
  });
  const dismiss = useChange({
    change: ({ reason, note }: { reason: DismissReason; note: string }) => dismissSuggestion(suggestion, reason, note),
    refresh: stale,
    done: () => {
      onDecided();
      return {
        title: texts.dismissed(name),
        action: { label: common.undo, run: () => restore.mutate(undefined) },
      };
    },
    failed: texts.dismissFailed,
  });
  const isOpen = deletedAt === null;
  const isBusy = accept.isPending || dismiss.isPending || restore.isPending;
  useHotkeys(
    {
      a: () => isOpen && accept.mutate(undefined),
      d: () => isOpen && setIsDismissing(true),
      r: () => !isOpen && restore.mutate(undefined),
    },
    { enabled: !isBusy && !isDismissing },
  );
  return (
    <>
      <div className="flex min-h-11 shrink-0 items-center gap-2 border-b px-4 py-1.5">
        {isDismissing ? (
          <DismissForm
            isBusy={isBusy}
            onCancel={() => setIsDismissing(false)}
            onDismiss={(reason, note) => dismiss.mutate({ reason, note })}
          />
        ) : isOpen ? (
          <>
            <Button kind="primary" disabled={isBusy} onClick={() => accept.mutate(undefined)} aria-keyshortcuts="a">
              {isChanged ? texts.acceptChanged : texts.accept}
              <Key>a</Key>
            </Button>
            <Button disabled={isBusy} onClick={() => setIsDismissing(true)} aria-keyshortcuts="d">
              {texts.dismiss}
              <Key>d</Key>
            </Button>
            {isChanged && (
              <Button kind="quiet" onClick={() => setChange({})}>
                {texts.discard}
              </Button>
            )}
          </>
        ) : (
          <Button kind="primary" disabled={isBusy} onClick={() => restore.mutate(undefined)} aria-keyshortcuts="r">
            {texts.restore}
            <Key>r</Key>
          </Button>
        )}
        <IconButton label={common.close} onClick={onClose} className="ml-auto self-start">
          <X className="size-4" aria-hidden />
        </IconButton>
      </div>
      <div data-scroll-restoration-id={id} className="flex min-h-0 grow flex-col gap-6 overflow-y-auto px-4 py-5">
        <div>
          <h2 className="text-15 font-strong break-words">{name}</h2>
          {technique && <p className="font-mono text-12 text-muted">{technique}</p>}
          {rationale && <p className="max-w-[72ch] pt-2 break-words text-muted">{rationale}</p>}
          {dismissReason && (
            <p className="pt-2 break-words">{[texts.reasons[dismissReason], dismissNote].filter(Boolean).join(': ')}</p>
          )}
        </div>
        <SourcePassages suggestion={suggestion} />
        <DraftForm suggestion={suggestion} change={change} isReadOnly={!isOpen} onChange={setChange} />
        <ExpectedNoise suggestion={suggestion} isChanged={isChanged} />
      </div>
    </>
  );
}
