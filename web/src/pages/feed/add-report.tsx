import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { postReport, type NewReport } from '../../api/feed.ts';
import { texts as common } from '../../texts/common.ts';
import { texts as all } from '../../texts/feed.ts';
import { texts as sources } from '../../texts/sources.ts';
import { Button } from '../../ui/button.tsx';
import { findFieldError, FormError, SelectField, TextArea, TextField } from '../../ui/forms/field.tsx';
import { Dialog, DialogActions } from '../../ui/overlays/dialog.tsx';
import { toasts } from '../../ui/overlays/toasts.tsx';
import { RestoredDraft, useDraft } from '../../ui/forms/use-draft.tsx';

const texts = all.report;
const tlps = ['CLEAR', 'GREEN', 'AMBER', 'AMBER+STRICT', 'RED'] as const;
const accepted = '.pdf,.eml,.msg,.html,.htm,.md,.txt,application/pdf,message/rfc822,text/plain,text/html';
const empty = { text: '', title: '', publisher: '', sourceUrl: '', tlp: 'AMBER' };
type Draft = typeof empty;

type Props = { onAdded: (id: string) => void; onClose: () => void };

/** Adds a report to the feed, from a file or as text. Load it with `lazy`. */
export default function AddReport({ onAdded, onClose }: Props) {
  const client = useQueryClient();
  const [file, setFile] = useState<File>();
  const [draft, setDraft, kept] = useDraft('report', empty);
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => postReport(toReport(draft), file),
    onSuccess: async ({ id, warnings = [] }) => {
      kept.reset();
      for (const { message } of warnings) toasts.add({ title: texts.unread, description: message, isError: true });
      await client.invalidateQueries({ queryKey: ['feed'] });
      onClose();
      onAdded(id);
    },
  });
  const field = (name: keyof Draft) => ({
    value: draft[name],
    onChange: ({ target }: { target: { value: string } }) => setDraft({ ...draft, [name]: target.value }),
    error: findFieldError(error, `/${name}`),
  });
  return (
    <Dialog title={texts.title} description={texts.body} onClose={onClose}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <TextField
          type="file"
          label={texts.file}
          hint={texts.fileHint}
          accept={accepted}
          className="h-auto py-1"
          error={findFieldError(error, '/file/content') ?? findFieldError(error, '/file')}
          onChange={({ target }) => setFile(target.files?.[0])}
        />
        {!file && <TextArea label={texts.text} {...field('text')} className="max-h-60" />}
        <TextField label={texts.name} hint={texts.nameHint} {...field('title')} />
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField label={sources.publisher} {...field('publisher')} />
          <SelectField
            label={sources.sharing}
            options={tlps.map((value) => ({ value, label: `TLP:${value}` }))}
            {...field('tlp')}
          />
        </div>
        <TextField
          label={texts.address}
          hint={texts.addressHint}
          className="font-mono text-12"
          {...field('sourceUrl')}
        />
        <FormError
          error={error}
          shown={['/file', '/file/content', '/text', '/title', '/publisher', '/tlp', '/sourceUrl']}
        />
        <RestoredDraft draft={kept} />
        <DialogActions>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" kind="primary" disabled={isPending || (!file && draft.text.trim() === '')}>
            {isPending ? texts.reading : texts.add}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** Leaves out what was not filled in. */
function toReport({ tlp, ...texts }: Draft): NewReport {
  const filled = Object.entries(texts).filter(([, value]) => value.trim() !== '');
  return { ...Object.fromEntries(filled), tlp: tlp as NewReport['tlp'] };
}
