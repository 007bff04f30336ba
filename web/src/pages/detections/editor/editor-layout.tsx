import { useState } from 'react';
import type { Draft, FormProps } from './draft.ts';
import { CostPanel } from './cost-panel.tsx';
import { DefinitionForm } from './definition-form.tsx';
import { PreviewPanel } from './preview-panel.tsx';

/** The form, and beside it what the definition finds and costs. Below 1024 px the preview follows the form. */
export function EditorLayout({
  intro,
  footer,
  storedId,
  ...form
}: FormProps & {
  intro?: React.ReactNode;
  footer: React.ReactNode;
  /** The detection that the draft is equal to. Undefined while it differs, and for a new one. */
  storedId?: string | undefined;
}) {
  const [previewed, setPreviewed] = useState<{ draft: Draft; n: number } | null>(null);
  const preview = (): void => setPreviewed((last) => ({ draft: form.draft, n: (last?.n ?? 0) + 1 }));
  return (
    <div className="grid min-h-full lg:grid-cols-2 2xl:grid-cols-[60rem_minmax(0,1fr)]">
      <div className="flex min-w-0 flex-col">
        <div className="flex grow flex-col gap-8 px-4 py-5">
          {intro}
          <DefinitionForm {...form} onPreview={preview} />
        </div>
        <div className="sticky bottom-0 flex flex-wrap items-center gap-2 border-t bg-surface px-4 py-2.5">
          {footer}
        </div>
      </div>
      <div className="flex min-w-0 flex-col gap-8 border-t bg-ground px-4 py-5 lg:border-t-0 lg:border-l">
        <PreviewPanel previewed={previewed} onPreview={preview} />
        <CostPanel draft={form.draft} storedId={storedId} />
      </div>
    </div>
  );
}
