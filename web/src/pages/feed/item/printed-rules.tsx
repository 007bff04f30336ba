import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { itemRulesQuery } from '../../../api/feed.ts';
import { downloadText } from '../../../lib/download.ts';
import { texts } from '../../../texts/feed.ts';
import { IconButton } from '../../../ui/button.tsx';
import { CodeBlock } from '../../../ui/code/code-block.tsx';
import { Section } from '../../../ui/section.tsx';

const extensions = { yara: 'yar', sigma: 'yml', snort: 'rules', suricata: 'rules' };

/** The YARA, Sigma, Snort and Suricata rules that the text of an item prints. Nothing if it prints none. */
export function PrintedRules({ id, version }: { id: string; version: number }) {
  const { data } = useQuery(itemRulesQuery(id, version));
  if (!data || data.rules.length === 0) return null;
  return (
    <Section title={texts.rules.title} count={data.rules.length}>
      <ul className="flex flex-col gap-1">
        {data.rules.map(({ type, name, text, problem, charSpan }) => (
          <li key={charSpan.start} className="flex min-w-0 items-start gap-2">
            <details className="min-w-0 grow">
              <summary className="cursor-pointer py-1 break-words">
                {name} <span className="text-12 text-muted">{texts.rules.types[type]}</span>
              </summary>
              {problem && <p className="py-1 text-12 break-words text-muted">{texts.rules.unusable(problem)}</p>}
              <CodeBlock text={text} label={name} isWrapped />
            </details>
            <IconButton
              label={texts.rules.download(name)}
              onClick={() =>
                downloadText(`${name.replaceAll(/[^\w.-]+/g, '_').slice(0, 80)}.${extensions[type]}`, text)
              }
            >
              <Download className="size-3.5" aria-hidden />
            </IconButton>
          </li>
        ))}
      </ul>
    </Section>
  );
}
