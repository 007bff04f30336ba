import { plainFieldName } from '../../../../platform/lib/text/canonical-text.ts';

/**
 * The usual content of a field: a name or identifier without sentences (`label`), a path or URL (`path`), a command or query
 * (`code`), a script with comments (`script`), or text that people or programs write (`prose`).
 */
export type FieldRole = 'label' | 'path' | 'code' | 'script' | 'prose';

const script = /scriptblock|^script(?:text|content|body)?$|^payload$|^hostapplication$|source(?:code)?$/;
const prose =
  /message|description|comment|reason|note|subject|title|detail|summary|text|body|content|justification|remark|advice|recommend|help|display|label|caption|remediation|error|status|log$|policies|operation(?:name)?$|opcode|typestring|factor|logevent|risk|threat|alert|rule|policy|finding|signature|^name$/;
const code = /command|cmd|query|expression|statement|^arguments?$|^args$|^sql$|launchstring|taskcontent/;
const path =
  /path|file|image|folder|directory|^url|uri|uri$|url$|link|referr?er|registry|objectname|attachment|process(?:name)?$/;
const label =
  /user|host|agent|ip$|ipaddress|address|domain|dns|^sni$|account|principal|role|group|arn|^id$|id$|identity|action|event(?:name|id|type)?$|operation|activity|method|service|port|protocol|country|city|region|asn|device|computer|machine|workstation|server|bucket|resource|object|target|source|dest|technique|tag|category|type|version|key|hash|md5|sha\d*|status(?:code)?|code|outcome|result|level|channel|provider|vendor|product|platform|^os|tool|session|client|member|owner|actor|org|tenant|project|email|sender|recipient|mail|^to$|^from$|count|time|date|mac/;

/** Infers the role of a field from its name. A field with an unknown name may contain prose. */
export function inferFieldRole(field: string): FieldRole {
  const name = plainFieldName(field);
  const whole = field.toLowerCase();
  if (script.test(name)) return 'script';
  if (name.endsWith('query') && whole.includes('dns')) return 'label';
  if (/useragent|^ua$/.test(name)) return 'label';
  if (prose.test(name)) return 'prose';
  if (code.test(name)) return 'code';
  if (path.test(name)) return 'path';
  return label.test(name) ? 'label' : 'prose';
}
