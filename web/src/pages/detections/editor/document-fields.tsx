import { X } from 'lucide-react';
import { texts as common } from '../../../texts/common.ts';
import { texts as editor } from '../../../texts/editor.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Field, TextArea, TextInput } from '../../../ui/forms/form.tsx';
import type { Document, FormProps } from './draft.ts';

const texts = editor.documents;

/** The documents that the model reads with the prompt, and that a verdict can cite. */
export function DocumentFields({ draft: { contextDocs }, onChange, problemOf }: FormProps) {
  const change = (at: number, part: Partial<Document>): void =>
    onChange({ contextDocs: contextDocs.map((one, index) => (index === at ? { ...one, ...part } : one)) });
  return (
    <details open={contextDocs.length > 0 || undefined}>
      <summary className="text-12 text-muted hover:text-ink">
        {texts.title} {contextDocs.length > 0 && `(${contextDocs.length})`}
      </summary>
      <div className="mt-2 flex flex-col gap-3">
        <p className="max-w-[72ch] text-12 text-muted">{texts.hint}</p>
        {contextDocs.map(({ name, content = '' }, index) => (
          <fieldset key={index} className="grid grid-cols-[minmax(0,1fr)_auto] gap-2 rounded-control border p-3">
            <legend className="sr-only">{texts.one(index + 1)}</legend>
            <div className="flex min-w-0 flex-col gap-2">
              <Field label={texts.name}>
                {(control) => (
                  <TextInput
                    {...control}
                    value={name}
                    onChange={({ target }) => change(index, { name: target.value, id: target.value })}
                  />
                )}
              </Field>
              <Field label={texts.content}>
                {(control) => (
                  <TextArea
                    {...control}
                    className="max-h-96"
                    value={content}
                    onChange={({ target }) => change(index, { content: target.value })}
                  />
                )}
              </Field>
            </div>
            <IconButton
              label={`${common.remove} ${texts.one(index + 1)}`}
              onClick={() => onChange({ contextDocs: contextDocs.filter((_, other) => other !== index) })}
            >
              <X className="size-4" aria-hidden />
            </IconButton>
          </fieldset>
        ))}
        {problemOf('contextDocs') && <p className="text-12 text-bad">{problemOf('contextDocs')}</p>}
        <Button
          className="self-start"
          onClick={() =>
            onChange({
              contextDocs: [
                ...contextDocs,
                { provider: 'console', id: '', name: '', mimeType: 'text/plain', content: '' },
              ],
            })
          }
        >
          {texts.add}
        </Button>
      </div>
    </details>
  );
}
